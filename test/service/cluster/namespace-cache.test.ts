import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { createNamespaceCache } from '../../../src/service/cluster/namespace-cache.ts';
import { openKubeClient } from '../../../src/service/kube/client.ts';
import { createLogger } from '../../../src/service/telemetry/logger.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { kubeconfigWithGrants, type Rule } from '../../harness/service-account.ts';
import { waitFor } from '../../harness/wait-for.ts';

const { signal } = new AbortController();
let cluster: ControlPlane;
before(async () => {
  cluster = await borrowControlPlane();
});
after(() => cluster.stop());

const say = (namespace: string, value: string | null) =>
  cluster.request('PATCH', `/api/v1/namespaces/${namespace}`, {
    metadata: { annotations: { 'operator.technomad.dev/allow-policies-from': value } },
  });

let accounts = 0;
/** With these verbs on Namespaces. */
async function start(context: TestContext, verbs: string[], watched: string[] = [], usesLabels = false) {
  const account = { namespace: 'default', name: `reader-${accounts++}` };
  const rules: Rule[] = verbs.length === 0 ? [] : [{ apiGroups: [''], resources: ['namespaces'], verbs }];
  const kubeconfig = await kubeconfigWithGrants(cluster, account, [{ rules }]);
  const client = await openKubeClient({ kubeconfig, requestTimeoutMs: 60_000 });
  const consents = createNamespaceCache({ namespaces: watched, usesLabels, logger: createLogger('silent') }, client);
  const changed: string[] = [];
  consents.onConsent((namespace) => changed.push(namespace));
  context.after(async () => {
    await consents.stop();
    await client.close();
  });
  await consents.start();
  return { consents, changed };
}

test('a watch of Namespaces shows their consent and its changes, without further requests', async (context) => {
  const [open, silent] = await Promise.all([cluster.namespace('open'), cluster.namespace('silent')]);
  await say(open, 'shop');
  const { consents, changed } = await start(context, ['list', 'watch']);
  await waitFor('the watch', () => consents.watches().every((watch) => watch.check().ok));
  const known = () => [open, silent, 'missing'].map(consents.namespaceConsent);
  assert.deepEqual(known(), ['shop', null, null]);
  assert.deepEqual(changed, [open]);
  // Reading is forbidden, and not needed.
  await consents.readNamespaceConsents([open, silent], signal);
  await cluster.request('PATCH', `/api/v1/namespaces/${silent}`, { metadata: { labels: { other: 'thing' } } });
  await say(open, null);
  await waitFor('the withdrawal', () => consents.namespaceConsent(open) === null);
  assert.deepEqual(changed, [open, open]);
});

test('without the right to watch Namespaces, their consent is known only after a read, which is repeated each time', async (context) => {
  const open = await cluster.namespace('open');
  await say(open, 'shop');
  const { consents } = await start(context, ['get']);
  assert.equal(consents.namespaceConsent(open), undefined);
  await consents.readNamespaceConsents([open, 'missing'], signal);
  assert.deepEqual([consents.namespaceConsent(open), consents.namespaceConsent('missing')], ['shop', undefined]);
  await say(open, '');
  await consents.readNamespaceConsents([open], signal);
  assert.equal(consents.namespaceConsent(open), '');
});

test('without any right on Namespaces, no consent is known, and reading for a pass does not fail', async (context) => {
  const open = await cluster.namespace('open');
  const { consents } = await start(context, []);
  await consents.readNamespaceConsents([open], signal);
  assert.equal(consents.namespaceConsent(open), undefined);
  await assert.rejects(consents.readNamespaceConsent(open, signal), { reason: 'NoConsent' });
});

test('with watch.namespaces, consents are read at the start and at each refresh, without the right to list', async (context) => {
  const [open, other] = await Promise.all([cluster.namespace('open'), cluster.namespace('other')]);
  await say(open, 'shop');
  const { consents, changed } = await start(context, ['get'], [open]);
  assert.deepEqual([consents.namespaceConsent(open), consents.namespaceConsent(other)], ['shop', undefined]);
  // BaseImagePolicies select by them.
  assert.deepEqual(consents.namesWith({ matchLabels: { 'kubernetes.io/metadata.name': open } }), [open]);
  await say(open, 'ops');
  await consents.refresh();
  assert.deepEqual([consents.namespaceConsent(open), changed], ['ops', [open, open]]);
  assert.deepEqual(consents.watches(), []);
});

test('labels of Namespaces are watched, and a Namespace that the watch has not shown yet can be read', async (context) => {
  const [first, second] = await Promise.all([cluster.namespace('first'), cluster.namespace('second')]);
  const label = (namespace: string, pace: string | null) =>
    cluster.request('PATCH', `/api/v1/namespaces/${namespace}`, { metadata: { labels: { pace } } }, 'application/merge-patch+json');
  await label(first, 'slow');
  const { consents } = await start(context, ['get', 'list', 'watch'], [], true);
  await waitFor('the watch', () => consents.areLabelsKnown());
  assert.deepEqual(
    [consents.labelsOf(first)?.['pace'], consents.labelsOf(second)?.['pace'], consents.labelsOf('missing')],
    ['slow', undefined, undefined],
  );
  const changed: string[] = [];
  consents.onLabels((namespace) => changed.push(namespace));
  await say(first, 'shop');
  await label(second, 'fast');
  await consents.readLabels(second, signal);
  assert.equal(consents.labelsOf(second)?.['pace'], 'fast');
  await label(first, null);
  await waitFor('the label to be gone', () => consents.labelsOf(first)?.['pace'] === undefined);
  assert.deepEqual(
    changed.filter((namespace) => namespace === first || namespace === second),
    [second, first],
  );
});

test('where labels are needed and may not be watched, no labels are known, and the check says so', async (context) => {
  const { consents } = await start(context, [], [], true);
  assert.equal(consents.areLabelsKnown(), false);
  const check = consents.watches()[0]?.check();
  assert.equal(check?.ok, false);
  assert.match(check?.detail ?? '', /forbidden: the labels of Namespaces are not known/);
});
