/** The dashboard before an API with samples of policies. */
import type { TestContext } from 'node:test';
import type { AddedRoutes, ApiOptions } from '../../src/service/api/add-api.ts';
import type { Doctor } from '../../src/service/api/doctor-api.ts';
import type { OperationsAuth } from '../../src/service/api/authenticate.ts';
import { createVouching } from '../../src/service/api/vouch.ts';
import type { InstallationPorts, PolicyPorts } from '../../src/service/api/ports.ts';
import type { DashboardOptions } from '../../src/dashboard/add-dashboard.ts';
import type { Identification } from '../../src/dashboard/sender.ts';
import { createSeal } from '../../src/dashboard/session.ts';
import { createTurns, type Turns } from '../../src/core/async/turns.ts';
import { connectWithin } from '../../src/dashboard/transport.ts';
import type { EventRecord } from '../../src/service/queue/event-record.ts';
import { startApi } from '../service/api/fake-events.ts';
import { type Patched, samplePorts } from '../service/api/sample-policies.ts';

interface Options {
  readonly auth?: OperationsAuth;
  readonly identification?: Identification;
  readonly policies?: Partial<PolicyPorts>;
  readonly records?: readonly EventRecord[];
  readonly installation?: InstallationPorts;
  readonly doctor?: Doctor;
  /** Reads the records of pushes; those of `records` unless given. */
  readonly reader?: ApiOptions['reader'];
  /** What does not answer. */
  readonly stale?: ApiOptions['stale'];
  /** What wings add to the API. */
  readonly added?: AddedRoutes;
  readonly more?: Partial<DashboardOptions>;
  readonly turns?: Turns;
}

/** Sessions that users sign in to with a token. */
export const vouching = createVouching(() => 'a secret of the tests');
export const sessions = {
  kind: 'session',
  seal: createSeal(() => 'a secret of the tests', 3_600_000),
  cookie: 'session',
  vouching,
} as const satisfies Identification;

/** A browser that keeps its cookies, without JavaScript. */
export function openDashboard(
  t: Pick<TestContext, 'after'>,
  {
    auth = { kind: 'none' },
    identification = { kind: 'none' },
    policies,
    records = [],
    installation,
    doctor,
    reader,
    stale,
    added,
    more,
    turns = createTurns(),
  }: Options = {},
) {
  const patched: Patched[] = [];
  const { app, logged, stored } = startApi(
    t,
    auth,
    records,
    {
      policies: samplePorts(patched, policies),
      ...(installation && { installation }),
      ...(doctor && { doctor }),
      ...(reader && { reader }),
      ...(stale && { stale }),
      ...(added && { added }),
      turns,
    },
    (own, logger) => ({
      transport: connectWithin(own, turns),
      turns,
      identification,
      settings: { teamLabel: 'team' },
      requestsPerMinute: 100_000,
      logger,
      ...more,
    }),
  );
  const cookies = new Map<string, string>();
  const send = async (method: 'GET' | 'POST', url: string, headers: Readonly<Record<string, string | string[]>>, payload?: string) => {
    const sent = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await app.inject({
      method,
      url,
      headers: { host: 'localhost:9090', ...(sent !== '' && { cookie: sent }), ...headers },
      ...(payload !== undefined && { payload }),
    });
    for (const { name, value, expires } of answer.cookies as { name: string; value: string; expires?: Date }[])
      if (expires !== undefined && expires.getTime() === 0) cookies.delete(name);
      else cookies.set(name, value);
    return { status: answer.statusCode, headers: answer.headers, text: answer.body, location: answer.headers.location };
  };
  return {
    app,
    logged,
    stored,
    patched,
    cookies,
    get: (url: string, headers: Readonly<Record<string, string | string[]>> = {}) => send('GET', url, headers),
    /** Sends a form, as a browser does from a page of the dashboard. */
    submit(
      url: string,
      form: Readonly<Record<string, string>> | readonly (readonly [string, string])[] = {},
      headers: Readonly<Record<string, string>> = { 'sec-fetch-site': 'same-origin' },
    ) {
      const entries = Array.isArray(form) ? form : Object.entries(form);
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      return send('POST', url, { ...type, ...headers }, new URLSearchParams(entries as [string, string][]).toString());
    },
  };
}
