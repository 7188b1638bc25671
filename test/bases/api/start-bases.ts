/** The API with the routes of bases, for tests of what it answers and writes. */
import type { TestContext } from 'node:test';
import { createBaseRoutes } from '../../../src/bases/api/routes.ts';
import type { BaseView } from '../../../src/bases/api/view.ts';
import type { BaseStep } from '../../../src/core/model/base-next-step.ts';
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';
import { startApi } from '../../service/api/fake-events.ts';
import { ann, type Patched, samplePorts } from '../../service/api/sample-policies.ts';
import { sampleView } from './sample-bases.ts';

export interface Dependent {
  readonly image: string;
  readonly state: string;
  readonly uses: readonly string[];
  readonly isPinned: boolean;
  readonly runs: readonly { readonly namespace: string; readonly name: string; readonly containers: readonly string[] }[];
  readonly nextStep?: { readonly id: BaseStep; readonly text: string };
}

interface Changes {
  readonly links: readonly { readonly kind: string; readonly host: string }[];
}

export interface Body {
  readonly bases: readonly {
    readonly name: string;
    readonly state: string;
    readonly layers?: number;
    readonly changes?: Changes;
    readonly dependents?: readonly Dependent[];
  }[];
  readonly dependents: readonly Dependent[];
  readonly versions: readonly { readonly tags: readonly string[]; readonly isLatest: boolean; readonly images: number }[];
  readonly counts: Readonly<Record<string, number>>;
  readonly isComplete: boolean;
  readonly total: number;
  readonly next?: string;
  readonly detail?: string;
  readonly requested?: string;
  readonly approvals?: object;
  readonly changes?: Changes;
  readonly withoutConsent?: { readonly total: number; readonly namespaces: readonly string[] };
}

export const web = policyOf({
  name: 'web',
  spec: specOf({ repository: { registry: 'harbor.example.com', path: 'shop/web' } }),
});

/** Starts the API with the routes of bases, for a caller. */
export function start(t: TestContext, auth: OperationsAuth = { kind: 'none' }, view: BaseView | 'none' = sampleView()) {
  const patched: Patched[] = [];
  const routes = createBaseRoutes(view === 'none' ? undefined : view);
  const { app } = startApi(t, auth, [], {
    policies: samplePorts(patched, { all: () => [web], find: (_, name) => (name === 'web' ? web : undefined) }),
    added: { features: ['bases'], routes },
  });
  const headers = { host: 'localhost:9090', authorization: 'Bearer anns-token', 'content-type': 'application/json' };
  return {
    patched,
    routes,
    async get(path: string) {
      const { statusCode, body } = await app.inject({ url: `/api/v1${path}`, headers });
      return { status: statusCode, body: JSON.parse(body) as Body };
    },
    async post(path: string, payload: object = {}) {
      const { statusCode, body } = await app.inject({ method: 'POST', url: `/api/v1${path}`, headers, payload: JSON.stringify(payload) });
      return { status: statusCode, body: JSON.parse(body) as Body };
    },
  };
}

/** The rights of a caller; `@` stands for BaseImagePolicies. */
export const rights = (...given: string[]) => ann(...given.map((one) => one.replace('@', 'baseimagepolicies ')));
