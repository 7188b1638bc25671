/** `image-watcher lint --config`: checks of policies that the configuration does not allow. What they are made from: lint-cluster.test.ts. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { lint } from '../../src/cli/lint.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const secretRef = { name: 'checks', key: 'key' };
const checks = [
  { name: 'listed', http: { url: 'https://checks.example.com/smoke', secretRef } },
  { name: 'host', http: { url: 'https://other.example.com/smoke', secretRef } },
  { name: 'plain', http: { url: 'http://checks.example.com/smoke', secretRef } },
  { name: 'all', prometheus: { server: 'open', query: 'up', min: 1 } },
  { name: 'unknown', prometheus: { server: 'none', query: 'up', min: 1 } },
  { name: 'other', prometheus: { server: 'ops', query: 'up', min: 1 } },
  { name: 'job', job: { cronJob: 'smoke' } },
  { name: 'analysis', analysis: { template: 'success-rate' } },
];

/** The problems of a policy with all of these, by the name of the check. */
async function problemsWith(settings: object | undefined, metadata: object) {
  const folder = tempFolder('lint-checks');
  const [file, config] = [join(folder, 'policy.yaml'), join(folder, 'config.yaml')];
  const spec = { image: 'nginx', select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'web' }], rollout: { checks } };
  writeFileSync(file, stringify({ apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata, spec }));
  writeFileSync(config, stringify({ checks: settings }));
  let out = '';
  const options = settings === undefined ? [] : ['--config', config];
  const code = await lint.run([file, '-o', 'json', ...options], { out: (text) => void (out += text), err: () => undefined });
  const { problems } = JSON.parse(out) as { problems: { line: number; policy: string; field: string; message: string; reason: string }[] };
  return { code, problems };
}

const prometheus = [
  { name: 'open', url: 'http://prometheus:9090' },
  { name: 'ops', url: 'http://prometheus.ops:9090', namespaces: ['ops'] },
];
const names = (problems: readonly { message: string }[]) =>
  problems.map(({ message }) => /^the check (\S+) would time out: /.exec(message)?.[1]);

test('lint reports a host, a server or a kind of check that the configuration does not allow, and names the setting', async () => {
  const { code, problems } = await problemsWith({ hosts: ['checks.example.com'], prometheus }, { name: 'web', namespace: 'shop' });
  assert.equal(code, 1);
  assert.deepEqual(names(problems), ['host', 'plain', 'unknown', 'other', 'job', 'analysis']);
  const [host] = problems;
  assert.deepEqual([host?.policy, host?.field, host?.reason], ['shop/web', 'spec.rollout.checks[1]', 'CheckTimedOut']);
  assert.ok((host?.line ?? 0) > 5);
  const settings = ['checks.hosts', 'checks.hosts', 'checks.prometheus', 'checks.prometheus', 'checks.jobs', 'checks.analysis'];
  for (const [index, setting] of settings.entries())
    assert.ok(problems[index]?.message.includes(`${setting} of the configuration`), setting);
});

test('lint accepts checks that the configuration allows, and a server for some namespaces if the namespace is unknown', async () => {
  const allowed = { hosts: ['*.example.com', 'http://checks.example.com'], prometheus, jobs: true, analysis: true };
  assert.deepEqual(names((await problemsWith(allowed, { name: 'web' })).problems), ['unknown']);
  assert.deepEqual(names((await problemsWith(allowed, { name: 'web', namespace: 'ops' })).problems), ['unknown']);
});

test('lint accepts all checks without a configuration', async () => {
  assert.deepEqual(await problemsWith(undefined, { name: 'web', namespace: 'shop' }), { code: 0, problems: [] });
});
