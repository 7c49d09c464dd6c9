/** Operation has the members of an OpenAPI operation that describe its access rules and side effects. */
export interface Operation {
  description?: string
  'x-role'?: string
  'x-on'?: string
  'x-scope'?: string
  'x-capability'?: string
  'x-entitlement'?: string
  'x-confirm'?: { when: 'always' | 'self' | 'never'; field?: string; phrase?: string }
  'x-plan'?: boolean
  'x-audit'?: string
}

const places: Record<string, string> = {
  instance: 'in the default team',
  anywhere: 'in any team',
}

/** facts lists the access rules and side effects of an operation as Markdown: viewers do not show extensions of OpenAPI. */
export function facts(o: Operation): string {
  const lines = [
    o['x-role'] === undefined
      ? 'Public: needs no login'
      : `Requires the role **${o['x-role']}** ${places[o['x-on'] ?? ''] ?? `on the ${(o['x-on'] ?? '').replaceAll('_', ' ')}`}, or an API key with the scope \`${o['x-scope']}\``,
  ]
  if (o['x-capability']) lines.push(`The host needs a token for \`${o['x-capability']}\``)
  if (o['x-entitlement']) lines.push(`Needs the feature \`${o['x-entitlement']}\``)
  const confirm = o['x-confirm']
  if (confirm && confirm.when !== 'never') {
    const typed = confirm.field ? `the ${confirm.field.replaceAll('_', ' ')}` : `\`${confirm.phrase}\``
    lines.push(`Send ${typed} as \`confirm\`` + (confirm.when === 'self' ? ' if the service itself runs on the target' : ''))
  }
  if (o['x-plan']) lines.push('`plan=true` shows the effects and changes nothing')
  if (o['x-audit']) lines.push(`The audit log records it as \`${o['x-audit']}\``)
  return lines.map((line) => `- ${line}\n`).join('')
}
