// Where changes go: directly to the firewall, or into a draft that is applied as a whole.
import { command, run, type Command } from '../../api/client'
import { asProblem } from '../../api/problem'
import { on, type Change, type Draft, type Scope } from './scope'

/** Edit is one change, in the form for the firewall and for a draft. */
export interface Edit {
  direct: Command
  change: Omit<Change, 'scope'>
}

/** canChange reports whether a draft accepts changes in its current state. */
export const canChange = (draft: Draft): boolean => draft.status === 'open' || draft.status === 'undone'

export class Bench {
  draft: Draft | undefined = $state.raw()
  /** The name of a draft that the first change creates; undefined if changes take effect at once. */
  name: string | undefined = $state()
  busy = $state(false)
  /** The last request. */
  last: Command | undefined = $state.raw()

  /** gathering reports whether changes go into a draft. */
  get gathering(): boolean {
    return this.draft !== undefined || this.name !== undefined
  }

  /** commandOf returns the request that makes the change. */
  commandOf(scope: Scope, edit: Edit): Command {
    const change: Change = { ...edit.change, scope: on(scope) }
    if (this.draft) return changeDraft(this.draft, [...this.draft.changes, change])
    if (this.name === undefined) return edit.direct
    return command('post', '/api/v1/firewall/drafts', { body: { host_id: scope.host, name: this.name, changes: [change] } })
  }

  /** make makes the change and returns the firewall's response. With a draft, it adds the change and returns nothing. */
  async make(scope: Scope, edit: Edit): Promise<unknown> {
    const wanted = this.commandOf(scope, edit)
    this.busy = true
    try {
      const answer = await run(wanted)
      this.last = wanted
      if (!this.gathering) return answer
      this.draft = answer as Draft
      this.name = undefined
      return undefined
    } catch (caught) {
      const problem = asProblem(caught)
      // Somebody else edits the same draft: show its current state.
      if (this.draft && problem.id === 'digest_conflict')
        this.draft = (problem.members.current as Draft | undefined) ?? this.draft
      throw problem
    } finally {
      this.busy = false
    }
  }
}

export const changeDraft = (draft: Draft, changes: Change[], name?: string) =>
  command('put', '/api/v1/firewall/drafts/{draft_id}', {
    path: { draft_id: draft.id },
    body: { version: draft.version, changes, ...(name ? { name } : {}) },
  })
export const getDraft = (id: number) => command('get', '/api/v1/firewall/drafts/{draft_id}', { path: { draft_id: id } })
