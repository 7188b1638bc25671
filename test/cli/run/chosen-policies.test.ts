/** Which policies `image-watcher run --once` reconciles: those of a context, a namespace, the whole cluster, or the standard input. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse, stringify } from 'yaml';
import type { Terminal } from '../../../src/service/command-line/command.ts';
import { UsageError } from '../../../src/service/command-line/command.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { policiesPath } from '../../service/resources/install-crd.ts';
import { type CliWorld, startCliWorld } from '../cluster-world.ts';
import { runCommand } from '../run-command.ts';
import type { Printed } from './run-world.ts';

let cli: CliWorld;
let other: string;
let kubeconfig: string;

const policyOf = (name: string, namespace?: string) => ({
  apiVersion: 'operator.technomad.dev/v1',
  kind: 'ImagePolicy',
  metadata: { name, ...(namespace !== undefined && { namespace }) },
  spec: { image: 'registry.invalid/shop/web', suspend: true, select: { semver: {} }, targets: [{ kind: 'Deployment', name }] },
});

before(async () => {
  cli = await startCliWorld();
  other = await cli.cluster.namespace('other');
  await cli.cluster.request('POST', policiesPath(cli.namespace, 'v1'), policyOf('web'));
  await cli.cluster.request('POST', policiesPath(other, 'v1'), policyOf('api'));
  kubeconfig = withContextFor(other);
});
after(() => cli.stop());

/** The kubeconfig of the user with one more context, `other`, whose namespace is this one. */
function withContextFor(namespace: string): string {
  const config = parse(readFileSync(cli.kubeconfig, 'utf8')) as { contexts: { context: object }[] };
  const contexts = [...config.contexts, { name: 'other', context: { ...config.contexts[0]?.context, namespace } }];
  const path = join(tempFolder('kubeconfig'), 'config');
  writeFileSync(path, stringify({ ...config, contexts }));
  return path;
}

const run = (args: readonly string[], terminal: Pick<Terminal, 'readStandardInput'> = {}) =>
  runCommand('run', ['--kubeconfig', kubeconfig, '--docker-config', '/dev/null', '--once', '--dry-run', '-o', 'json', ...args], terminal);
const chosen = async (...asked: Parameters<typeof run>) => {
  const { code, out, err } = await run(...asked);
  assert.equal(code, 0, err);
  return (JSON.parse(out) as Printed).policies.map(({ policy }) => policy).toSorted();
};
const input = (...documents: object[]) => ({ readStandardInput: async () => documents.map((one) => stringify(one)).join('---\n') });

test("run chooses the policies of the current context's namespace, of another context, of -n or of all namespaces", async () => {
  const [web, api] = [`${cli.namespace}/web`, `${other}/api`];
  assert.deepEqual(await chosen([]), [web]);
  assert.deepEqual(await chosen(['--context', 'other']), [api]);
  assert.deepEqual(await chosen(['-n', other]), [api]);
  assert.deepEqual(await chosen(['-A']), [web, api].toSorted());
  assert.deepEqual(await chosen([web, api]), [web, api].toSorted());
});

test('run reads policies from standard input, in the namespace of -n unless they name their own', async () => {
  assert.deepEqual(
    await chosen(['-f', '-'], input(policyOf('new'), policyOf('api', other))),
    [`${cli.namespace}/new`, `${other}/api`].toSorted(),
  );
  assert.deepEqual(await chosen(['-f', '-', '-n', other], input(policyOf('new'))), [`${other}/new`]);
  await assert.rejects(run(['-f', '-', '-n', other], input(policyOf('web', cli.namespace))), UsageError);
});

test('run prints the same results as YAML and as JSON', async () => {
  const [json, yaml] = [await run(['-A']), await run(['-A', '-o', 'yaml'])];
  assert.deepEqual(parse(yaml.out), JSON.parse(json.out));
});
