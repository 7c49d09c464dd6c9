// The load that the service is to a host, as figures.
import { dash, number, span } from '../../kit/figures'

/** figure is a number of requests or seconds: small ones with a decimal. */
export const figure = (n: number | null | undefined): string => (n === null || n === undefined ? dash : number(n, n < 10 ? 1 : 0))

/** answer is how long one request takes on average, from the connection to the end of the answer. */
export const answer = (requests: number | null | undefined, busy: number | null | undefined): string =>
  requests && busy !== null && busy !== undefined ? span(busy / requests) : dash

/** change compares the last minutes with the last hour: by which part there is more; undefined where nothing can be said. */
export const change = (now: number | null | undefined, hour: number | null | undefined): number | undefined =>
  now === null || now === undefined || !hour ? undefined : now / hour - 1
