/** `image-watcher explain bipol/NAME`: where the settings of a BaseImagePolicy come from, against a real API server. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runCommand } from '../../cli/run-command.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { installCrd, installPlainCrds } from '../../service/resources/install-crd.ts';

let cluster: ControlPlane;
let namespace: string;
before(async () => {
  cluster = await borrowControlPlane();
  await installCrd(cluster, ['v1']);
  await installPlainCrds(cluster);
  namespace = await cluster.namespace('platform');
  await cluster.request('POST', `/apis/operator.technomad.dev/v1/namespaces/${namespace}/baseimagepolicies`, {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name: 'java' },
    spec: { image: 'harbor.example.com/library/java', select: { semver: {} }, minAge: '5m' },
  });
});
after(() => cluster.stop());

const explain = (...args: string[]) =>
  runCommand('explain', ['bipol/java', '-n', namespace, '--kubeconfig', cluster.kubeconfigPath, ...args]);
const settingsIn = (out: string) => out.split('\n').flatMap((line) => (line.startsWith('·') ? [line.replaceAll(/ +/g, ' ')] : []));

test('explain shows settings of a base without a configuration as those of the policy or built-in', async () => {
  assert.deepEqual(settingsIn((await explain()).out), [
    '· poll every 1h (built-in)',
    '· minAge 5m (policy)',
    '· windows always open (built-in)',
  ]);
});

test('explain names the default of the cluster or of the namespace as the source of a setting of a base', async () => {
  const config = join(tempFolder('explain-base'), 'config.yaml');
  const windows = '[{from: "01:00", to: "02:00", timeZone: UTC}]';
  writeFileSync(
    config,
    `policyDefaults: {poll: {interval: 10s}, minAge: 1h, rollout: {onFailure: Hold}, namespaces: [{names: [${namespace}], windows: ${windows}}]}`,
  );
  const { out } = await explain('--config', config);
  assert.deepEqual(settingsIn(out), [
    '· poll every 1m (default of the cluster)',
    '· minAge 5m (policy)',
    '· windows 01:00–02:00 UTC (default of the namespace)',
  ]);
  const { settings } = JSON.parse((await explain('--config', config, '-o', 'json')).out) as { settings: unknown };
  assert.deepEqual(settings, {
    poll: { value: '1m', from: 'cluster' },
    minAge: { value: '5m', from: 'policy' },
    windows: { value: [{ from: '01:00', to: '02:00', timeZone: 'UTC' }], from: 'namespace' },
  });
});

test('explain shows no settings of a base in a namespace that the service does not watch', async () => {
  const config = join(tempFolder('explain-base'), 'config.yaml');
  writeFileSync(config, 'watch: {namespaces: [elsewhere]}');
  assert.deepEqual(settingsIn((await explain('--config', config)).out), []);
});
