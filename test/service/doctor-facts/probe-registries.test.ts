/** What a report costs the registries, and what it says of credentials. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clocksOf, probeRegistries } from '../../../src/service/doctor-facts/probe-registries.ts';
import { registries } from '../../../src/service/doctor/checks/registries.ts';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { ImageSource } from '../../../src/core/model/image-source.ts';
import { fakeImage } from '../../harness/fake-registry.ts';
import { offering, startWorld } from '../registry/start-world.ts';
import { readContext } from '../../harness/resource-group.ts';

const never = new AbortController().signal;

function policyOf(image: string, name: string, latest?: string): ImagePolicy {
  const spec = { image, select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'web' }] };
  const status = latest === undefined ? {} : { latest: { tag: latest, selectedAt: '2026-01-01T00:00:00Z' } };
  const metadata = { namespace: 'shop', name, uid: name, generation: 1, resourceVersion: '1' };
  const raw = { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata, spec, status };
  return readPolicy(raw, readContext);
}

const sourceOf = (policy: ImagePolicy): ImageSource => ('repository' in policy.spec ? policy.spec.repository : assert.fail(policy.name));

test('a probe names the credentials that the registry accepts, and never their content', async (t) => {
  const { fake, client } = await startWorld(t, { credentials: offering({ username: 'robot', password: 'hunter2' }) });
  fake.setTag('team/app', '1.0.0', fakeImage('a'));
  fake.requireBasic({ user: 'robot', password: 'hunter2' });
  const policies = () => [policyOf(`${fake.host}/team/app`, 'web', '1.0.0')];
  const facts = await probeRegistries({ registry: client, policies, sourceOf }, never);
  assert.deepEqual(facts.probes[0]?.answer, { kind: 'read', credentials: 'Secret shop/creds' });
  assert.doesNotMatch(JSON.stringify([facts, registries.evaluate(facts)]), /hunter2|robot/);
  assert.ok(clocksOf(facts.probes).some((clock) => 'aheadMs' in clock && Math.abs(clock.aheadMs) <= clock.toleranceMs + 1_000));
});

test('a probe reports anonymous access, and a repository that does not exist', async (t) => {
  const { fake, client } = await startWorld(t);
  fake.setTag('team/app', '1.0.0', fakeImage('a'));
  const probe = async (repository: string) => {
    const policies = () => [policyOf(`${fake.host}/${repository}`, 'web')];
    return (await probeRegistries({ registry: client, policies, sourceOf }, never)).probes[0]?.answer;
  };
  assert.deepEqual(await probe('team/app'), { kind: 'read', credentials: 'anonymous' });
  assert.deepEqual(await probe('team/other'), { kind: 'unknown', credentials: 'anonymous' });
});

test('a probe that was refused is not repeated by the next report, because registries count failed logins', async (t) => {
  const { fake, client } = await startWorld(t, { credentials: offering({ username: 'robot', password: 'wrong' }) });
  fake.setTag('team/app', '1.0.0', fakeImage('a'));
  fake.requireBasic({ user: 'robot', password: 'hunter2' });
  const means = { registry: client, policies: () => [policyOf(`${fake.host}/team/app`, 'web', '1.0.0')], sourceOf };
  const first = await probeRegistries(means, never);
  assert.match(JSON.stringify(first.probes[0]?.answer), /"kind":"failed".*Secret shop\/creds/);
  const asked = fake.requests.length;
  const second = await probeRegistries(means, never);
  assert.match(JSON.stringify(second.probes[0]?.answer), /"kind":"failed"/);
  assert.equal(fake.requests.length, asked);
});

test('thousands of policies and hosts cost 20 probes, and each registry is probed before one is probed twice', async () => {
  const hosts = Array.from({ length: 15 }, (_, index) => `r${index}.example.com`);
  const policies = hosts.flatMap((host) =>
    Array.from({ length: 200 }, (_, index) => policyOf(`${host}/shop/web-${index}`, `web-${index}`)),
  );
  const asked: string[] = [];
  const registry = {
    probe: ({ registry: host, causedAt }: ImageSource) => {
      assert.equal(causedAt, 0);
      asked.push(host);
      return Promise.resolve({ isKnown: true, credentials: 'anonymous', time: undefined });
    },
  };
  const shared = await probeRegistries({ registry, policies: () => policies, sourceOf }, never);
  assert.deepEqual([asked.length, new Set(asked).size, shared.notAsked], [15, 15, 0]);
  asked.length = 0;
  const ofNamespaces = (policy: ImagePolicy): ImageSource => ({
    ...sourceOf(policy),
    access: { secrets: [{ namespace: 'shop', name: policy.name, namedBy: 'policy' }] },
  });
  const own = await probeRegistries({ registry, policies: () => policies, sourceOf: ofNamespaces }, never);
  assert.deepEqual([asked.length, new Set(asked).size, own.notAsked], [20, 15, 15 * 200 - 20]);
});

test('hosts that few policies name are probed although others have many policies', async () => {
  const odd = Array.from({ length: 30 }, (_, index) => policyOf(`odd${index}.example.com/a`, `odd-${index}`));
  const policies = [...odd, policyOf('r.example.com/a', 'web'), policyOf('r.example.com/b', 'api')];
  const asked: string[] = [];
  const registry = {
    probe(source: ImageSource) {
      asked.push(source.registry);
      return Promise.resolve({ isKnown: true, credentials: 'anonymous', time: undefined });
    },
  };
  const facts = await probeRegistries({ registry, policies: () => policies, sourceOf }, never);
  assert.deepEqual([asked[0], asked.length, facts.notAsked], ['r.example.com', 20, 11]);
});

test('the probe of a registry that hangs is reported as late when the report has to end', async () => {
  const end = new AbortController();
  const registry = {
    probe(_source: ImageSource, _tag: string | undefined, signal?: AbortSignal): Promise<never> {
      queueMicrotask(() => end.abort());
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    },
  };
  const facts = await probeRegistries({ registry, policies: () => [policyOf('r.example.com/a', 'web')], sourceOf }, end.signal);
  assert.deepEqual(facts.probes[0]?.answer, { kind: 'late' });
});
