// What journeys stand on: a real service with its own database, the simulator, and a browser that watches what the page does wrong.
import { AxeBuilder } from '@axe-core/playwright'
import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect, onTestFailed } from 'vitest'

const root = resolve(import.meta.dirname, '../../../..')
const bin = process.env.HOSTLER_BIN ?? join(root, 'bin')

export const owner = { email: 'anna@example.com', password: 'seven-yellow-donkeys' }

/** limit bounds what hangs, in milliseconds; the machine may be busy. */
export const limit = 60_000

/** until waits for a condition. */
export async function until<T>(what: string, found: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  const end = Date.now() + 3 * limit
  for (;;) {
    const value = await found()
    if (value) return value
    if (Date.now() > end) throw new Error(`${what}: not in ${(3 * limit) / 1000} s`)
    await new Promise((go) => setTimeout(go, 100))
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((go) => server.listen(0, '127.0.0.1', go))
  const { port } = server.address() as AddressInfo
  await new Promise((go) => server.close(go))
  return port
}

function start(name: string, args: string[]): { child: ChildProcess; said: () => string; stop: () => Promise<void> } {
  const child = spawn(join(bin, name), args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stdout?.on('data', (text: Buffer) => (said += text))
  child.stderr?.on('data', (text: Buffer) => (said += text))
  const ended = new Promise<void>((go) => child.once('exit', () => go()))
  return {
    child,
    said: () => said,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Answer is what the API said. */
interface Answer<T> {
  status: number
  body: T
}

/** Caller speaks to the API beside the page, as one user. */
export class Caller {
  private cookie = ''
  constructor(private url: string) {}

  async send<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const headers: Record<string, string> = { Cookie: this.cookie }
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    const response = await fetch(this.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!)
    if (cookies.length) this.cookie = cookies.join('; ')
    const text = await response.text()
    return { status: response.status, body: (text ? JSON.parse(text) : undefined) as T }
  }

  async must<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.send<T>(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  async logIn(email: string, password: string): Promise<this> {
    await this.must('POST', '/api/v1/auth/login', { email, password })
    return this
  }
}

export interface Service {
  url: string
  /** The token of the first set-up. */
  setupToken: () => string
  /** setUp makes the owner, and yields the API as the owner sees it. */
  setUp: () => Promise<Caller>
  stop: () => Promise<void>
}

/** startService starts a service without an owner, on a database of its own. */
export async function startService(): Promise<Service> {
  if (!existsSync(join(bin, 'hostlerd'))) throw new Error(`there is no ${bin}/hostlerd: run make build`)
  const dir = mkdtempSync(join(tmpdir(), 'hostler-journey-'))
  chmodSync(dir, 0o711) // the private PostgreSQL runs under its own user
  const state = join(dir, 'state')
  mkdirSync(state, { mode: 0o711 })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const serve = ['serve', '--listen', `127.0.0.1:${port}`, '--state-dir', state, '--plugin-dir', join(bin, 'plugins')]
  const service = start('hostlerd', [...serve, '--allow-loopback-hosts', '--log-level', 'warn'])
  await until('the service is ready', async () => {
    if (service.child.exitCode !== null) throw new Error(`the service ended: ${service.said()}`)
    return (await fetch(`${url}/readyz`).catch(() => undefined))?.ok
  })
  const setupToken = (): string => readFileSync(join(state, 'setup-token'), 'utf8').trim()
  return {
    url,
    setupToken,
    setUp: async () => {
      const caller = new Caller(url)
      await caller.must('POST', '/api/v1/setup', { setup_token: setupToken(), ...owner })
      return caller.logIn(owner.email, owner.password)
    },
    stop: async () => {
      await service.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export interface Simulator {
  /** order changes a guest behind the service's back. */
  order: (guest: Record<string, unknown>) => Promise<void>
  stop: () => Promise<void>
}

/** startCluster starts a simulated cluster and enrols it with all its tokens; it is there once its guests have been seen. */
export async function startCluster(caller: Caller, { nodes = 3, guests = 24, latency = '' } = {}): Promise<Simulator> {
  const more = latency ? ['--latency', latency] : []
  const scenario = ['--scenario', 'cluster', '--nodes', String(nodes), '--guests', String(guests), '--recommended']
  const sim = start('pvesim', ['--listen', '127.0.0.1:0', ...scenario, ...more])
  interface Ready {
    url: string
    fingerprint: string
    control: string
    tokens: Record<string, { id: string; secret: string }>
  }
  const ready = await until('the simulator is ready', () => {
    const line = sim.said().split('\n')[0]
    return line && sim.said().includes('\n') ? (JSON.parse(line) as Ready) : undefined
  })
  const token = (capability: string): { token_id: string; token_secret: string } => {
    const { id, secret } = ready.tokens[capability]!
    return { token_id: id, token_secret: secret }
  }
  const host = await caller.must<{ id: number }>('POST', '/api/v1/hosts', {
    name: 'demo',
    address: ready.url,
    tls_fingerprint: ready.fingerprint,
    ...token('monitoring'),
  })
  for (const capability of ['lifecycle', 'console', 'backup', 'node_power']) {
    await caller.must('POST', `/api/v1/hosts/${host.id}/credentials`, { capability, ...token(capability) })
  }
  await caller.must('POST', `/api/v1/hosts/${host.id}/sync`)
  return {
    order: async (guest) => {
      const answer = await fetch(`${ready.control}/guest`, { method: 'POST', body: JSON.stringify(guest) })
      if (!answer.ok) throw new Error(`the simulator: ${answer.status} ${await answer.text()}`)
    },
    stop: sim.stop,
  }
}

export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env.HOSTLER_CHROMIUM ?? '/usr/bin/chromium'
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** Visitor is a browser of one person. What the page does wrong is kept until it is asked for. */
export class Visitor {
  private wrong: string[] = []
  /** Answers that the journey provokes: a browser tells its console of each. */
  private expected: number[] = [401]

  private constructor(
    readonly page: Page,
    readonly url: string,
  ) {
    page.on('console', (message) => {
      const answered = message.text().startsWith('Failed to load resource: the server responded with a status of')
      if ((message.type() === 'error' || message.type() === 'warning') && !answered) this.wrong.push(`console: ${message.text()}`)
    })
    page.on('pageerror', (error) => this.wrong.push(`error: ${error.message}`))
    page.on('response', (response) => {
      const ready = response.url().endsWith('/api/v1/setup') && response.status() === 409 // so it says that it has an owner
      if (response.status() >= 400 && !ready && !this.expected.includes(response.status())) {
        this.wrong.push(`answer: ${response.status()} ${response.request().method()} ${response.url()}`)
      }
    })
    page.on('request', (request) => {
      const from = new URL(request.url())
      if (!['data:', 'blob:'].includes(from.protocol) && from.origin !== url) this.wrong.push(`request: ${request.url()}`)
    })
  }

  static async arrive(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, timezoneId: 'Europe/Berlin', ...options })
    context.setDefaultTimeout(limit)
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`)
      })
    })
    const visitor = new Visitor(await context.newPage(), url)
    onTestFailed(async ({ task }) => {
      await visitor.picture(`failed-${task.name.replaceAll(/\W+/g, '-')}`)
      console.log(`${task.name}: at ${visitor.page.url()}`, visitor.wrong)
    })
    return visitor
  }

  /** provokes says which statuses the journey brings about on purpose. */
  provokes(...statuses: number[]): void {
    this.expected.push(...statuses)
  }

  async open(path: string): Promise<void> {
    await this.page.goto(this.url + path)
  }

  async logIn({ email, password } = owner): Promise<void> {
    await this.page.getByLabel('E-mail').fill(email)
    await this.page.getByLabel('Password').fill(password)
    await this.page.getByRole('button', { name: 'Log in', exact: true }).click()
    await this.page.getByRole('banner').waitFor()
  }

  /** accessible holds what is shown against WCAG 2.2 AA; or only its colours, where the rest has been looked at in others. */
  async accessible(what: string, colours = false): Promise<void> {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    const look = async (): Promise<string[]> => {
      const axe = new AxeBuilder({ page: this.page })
      const { violations } = await (colours ? axe.withRules('color-contrast') : axe.withTags(tags)).analyze()
      return violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`)
    }
    // What is shown may still be changing when it is looked at first.
    await expect.poll(look, { message: what, timeout: 15_000 }).toEqual([])
  }

  /** picture writes what is shown where a reader can look at it, when HOSTLER_PICTURES names a folder. */
  async picture(name: string): Promise<void> {
    const folder = process.env.HOSTLER_PICTURES
    if (!folder) return
    mkdirSync(folder, { recursive: true })
    await this.page.evaluate(() => scrollTo(0, 0)) // what is sticky would be in the middle
    await this.page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
  }

  /** fits holds that the page is not wider than its window. */
  async fits(what: string): Promise<void> {
    const wide = await this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect(wide, `${what}: pixels that stick out`).toBeLessThanOrEqual(0)
  }

  /** leave ends the visit: with accessibility, and with nothing that went wrong. */
  async leave(): Promise<void> {
    await this.accessible('at the end')
    expect(this.wrong).toEqual([])
    await this.page.context().close()
  }
}
