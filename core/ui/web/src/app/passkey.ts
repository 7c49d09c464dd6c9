// Creates and uses passkeys in the browser. If the user declines, or no passkey fits, the result is a problem with the ID declined.
import { Problem } from '../api/problem'

/** canPasskey reports whether passkeys work at this address. Browsers require a domain with TLS, or localhost. */
export function canPasskey(): boolean {
  return (
    window.isSecureContext &&
    typeof PublicKeyCredential === 'function' &&
    'parseRequestOptionsFromJSON' in PublicKeyCredential &&
    !/^[\d.]+$|^\[/.test(location.hostname)
  )
}

/** makePasskey lets the browser create a passkey, and returns what the service needs. */
export async function makePasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON)
  return answer(() => navigator.credentials.create({ publicKey }))
}

/** provePasskey lets the browser use a passkey, and returns what the service needs. */
export async function provePasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON)
  return answer(() => navigator.credentials.get({ publicKey }))
}

async function answer(ask: () => Promise<Credential | null>): Promise<Record<string, unknown>> {
  let given: Credential | null
  try {
    given = await ask()
  } catch (caught) {
    throw new Problem({ id: 'declined', status: 0, detail: caught instanceof Error ? caught.message : String(caught) })
  }
  if (!(given instanceof PublicKeyCredential)) throw new Problem({ id: 'declined', status: 0 })
  return { ...given.toJSON() }
}
