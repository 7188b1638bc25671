/** A question of a check about shop/web, and what it is asked with. */
import type { CheckQuestion } from '../../../src/core/model/rollout-check.ts';
import type { CheckMeans } from '../../../src/service/checks/check-means.ts';
import type { CheckRequest } from '../../../src/service/reconcile/checks/check-request.ts';
import { digestOf } from '../../core/model/samples.ts';

/** From which the names of Jobs follow. */
export const secret = 'a secret';
export const id = '0123456789abcdef0123456789abcdef';

export function requestOf(question: CheckQuestion, request: Partial<CheckRequest> = {}): CheckRequest {
  const image = { tag: '1.3.0', digest: digestOf('b') };
  return {
    policy: { namespace: 'shop', name: 'web', uid: 'uid-of-policy' },
    check: { name: 'gate', phase: 'after', everyMs: 10_000, timeoutMs: 90_500, retries: 0, question },
    record: { name: 'gate', phase: 'after', id, ...image, state: 'Running', startedAt: '2026-03-01T12:00:00Z' },
    image: `registry.example.com/shop/web:1.3.0@${image.digest}`,
    changes: [{ workload: 'Deployment shop/web', container: 'web', from: 'registry.example.com/shop/web:1.2.3' }],
    signal: new AbortController().signal,
    ...request,
  };
}

export function meansOf(means: Partial<CheckMeans>): CheckMeans {
  return {
    fetch,
    hosts: [],
    servers: [],
    jobs: true,
    analysis: true,
    checkSecret: async () => secret,
    client: {
      request: () => Promise.reject(new Error('no request is expected')),
      streamLines: () => assertNever(),
      close: async () => undefined,
    },
    readSecret: async () => ({ data: {} }),
    now: () => Date.parse('2026-03-01T12:00:10Z'),
    ...means,
  };
}

function assertNever(): never {
  throw new Error('no watch is expected');
}
