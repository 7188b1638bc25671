/** `image-watcher get` for BaseImagePolicies, against a real API server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { runCommand } from '../../cli/run-command.ts';
import { at, condition, withNamespace } from '../../cli/cluster-world.ts';
import { installCrd, installPlainCrds } from '../../service/resources/install-crd.ts';

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly (string | number | null)[] }[];
}

describe('get bipol', () => {
  let cluster: ControlPlane;
  let namespace: string;
  let kubeconfig: string;
  const path = (name = '') => `/apis/operator.technomad.dev/v1/namespaces/${namespace}/baseimagepolicies${name && `/${name}`}`;
  before(async () => {
    cluster = await borrowControlPlane();
    await installCrd(cluster, ['v1']);
    await installPlainCrds(cluster);
    namespace = await cluster.namespace('platform');
    kubeconfig = withNamespace(cluster.kubeconfigPath, namespace);
    for (const name of ['java', 'python'])
      await cluster.request('POST', path(), {
        apiVersion: 'operator.technomad.dev/v1',
        kind: 'BaseImagePolicy',
        metadata: { name },
        spec: { image: `harbor.example.com/library/${name}`, select: { semver: {} } },
      });
    await cluster.request('PATCH', `${path('java')}/status`, {
      status: {
        latest: { tag: '21.0.2', digest: `sha256:${'a'.repeat(64)}`, selectedAt: at },
        images: { total: 9, current: 7, behind: 2, otherLine: 0, unknown: 0, unrelated: 0 },
        conditions: [
          condition('Ready', 'False', 'RegistryDenied', 'the registry denies access'),
          condition('Stalled', 'True', 'RegistryDenied', 'the registry denies access'),
        ],
      },
    });
  });
  after(() => cluster.stop());

  const get = (...args: string[]) => runCommand('get', [...args, '--kubeconfig', kubeconfig]);

  it('shows the columns and cells of kubectl get', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { columnDefinitions, rows } = await cluster.request<Table>('GET', path(), undefined, undefined, accept);
    const shown = columnDefinitions.flatMap(({ name, priority }, index) => (priority === 0 && name !== 'Age' ? [{ name, index }] : []));
    const { code, out } = await get('bipol');
    assert.equal(code, 0);
    const [heading = '', ...lines] = out.split('\n').filter((line) => /^\S/.test(line));
    assert.deepEqual(heading.split(/ +/), [...shown.map(({ name }) => name.toUpperCase()), 'AGE']);
    assert.deepEqual(
      lines.map((line) => line.split(/ +/).slice(0, -1)),
      rows.map(({ cells }) => shown.map(({ index }) => String(cells[index] ?? '') || '-')),
    );
  });

  it('shows the message of a policy that is not Ready below its row', async () => {
    const { out } = await get('bipol', 'java');
    assert.match(
      out,
      /^java +harbor\.example\.com\/library\/java +21\.0\.2 +9 +7 +2 +False +RegistryDenied +\S+\n {2}the registry denies access/m,
    );
  });

  it('accepts policies by resource and name, also with output for programs', async () => {
    assert.equal(
      (await get('bipol/python', 'bipol/java', '-o', 'name')).out,
      'baseimagepolicy.operator.technomad.dev/python\nbaseimagepolicy.operator.technomad.dev/java\n',
    );
    assert.equal((JSON.parse((await get('baseimagepolicies', 'java', '-o', 'json')).out) as { kind: string }).kind, 'BaseImagePolicy');
  });

  it('refuses names of two kinds in one command, and reports that a policy does not exist', async () => {
    await assert.rejects(get('bipol/java', 'web'), /name ImagePolicy and BaseImagePolicy in separate commands/);
    const missing = await get('bipol/go');
    assert.equal(missing.code, 1);
    assert.match(missing.err, /there is no BaseImagePolicy platform[^ ]*\/go/);
    const other = await cluster.namespace('empty');
    assert.match((await get('bipol', '-n', other)).err, /^there are no BaseImagePolicies in the namespace empty/);
  });
});
