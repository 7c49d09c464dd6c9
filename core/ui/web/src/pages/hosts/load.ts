// The load that the service causes on a host, as numbers.
import { dash, number, span } from '../../kit/figures'

/** figure formats a number of requests or seconds: small ones with a decimal. */
export const figure = (n: number | null | undefined): string => (n === null || n === undefined ? dash : number(n, n < 10 ? 1 : 0))

/** answer returns how long one request takes on average, from the connection to the end of the response. */
export const answer = (requests: number | null | undefined, busy: number | null | undefined): string =>
  requests && busy !== null && busy !== undefined ? span(busy / requests) : dash

/** change compares the last minutes with the last hour: the relative increase; undefined if it cannot be computed. */
export const change = (now: number | null | undefined, hour: number | null | undefined): number | undefined =>
  now === null || now === undefined || !hour ? undefined : now / hour - 1
