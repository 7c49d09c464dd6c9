import { say, unsay } from '../../kit/toasts.svelte'
import { takeJob, whenDone, type Job } from '../../live/jobs.svelte'
import { t } from '../../words/words'

/**
 * announce shows that a job was requested, and later how it ended. what names the action, such as "Start web-1". done is called at the end.
 */
export function announce(job: Job, what: string, done?: (job: Job) => void): void {
  takeJob(job)
  const link = { path: `/jobs/${job.id}`, text: t('jobs.show') }
  const asked = say(t('jobs.announced', { what }), { link })
  whenDone(job.id, (ended) => {
    unsay(asked)
    say(t('jobs.ended', { what, status: t(`status.${ended.status}`) }), { bad: ended.status !== 'succeeded', link })
    done?.(ended)
  })
}
