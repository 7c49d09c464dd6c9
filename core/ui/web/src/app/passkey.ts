// What the browser does with passkeys: it makes them, and proves that one is there. Where nobody lets it go on, or there is none that fits,
// that is a problem of id declined.
import { Problem } from '../api/problem'

/** canPasskey says whether passkeys can be at this address: browsers bind them to a domain, over TLS or on this machine itself. */
export function canPasskey(): boolean {
  return (
    window.isSecureContext &&
    typeof PublicKeyCredential === 'function' &&
    'parseRequestOptionsFromJSON' in PublicKeyCredential &&
    !/^[\d.]+$|^\[/.test(location.hostname)
  )
}

/** makePasskey lets the browser make one, and gives what goes back to the service. */
export async function makePasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON)
  return answer(() => navigator.credentials.create({ publicKey }))
}

/** provePasskey lets the browser prove one, and gives what goes back to the service. */
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
