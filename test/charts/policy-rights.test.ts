/** Who may do what with ImagePolicies and BaseImagePolicies, by the roles and the admission policy that the chart makes, in the eyes of a real API server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { plainPath, installPlainCrds, installCrd, policiesPath } from '../service/resources/install-crd.ts';
import { olderPolicy } from '../end-to-end/conversion-world.ts';
import { lacksHelm } from '../harness/binaries.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { renderChart } from '../harness/helm.ts';
import { KubeRequestError, kubeRequest, type KubeRequest } from '../harness/kube-request.ts';
import { kubeconfigOf, kubeconfigWithGrants, tokenOf } from '../harness/service-account.ts';
import { shippedGrants } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { runCommand } from '../cli/run-command.ts';
import { describeApprovals } from './approval-rights.ts';
import { describeHolds } from './hold-rights.ts';
import { resourceOf } from './manifests.ts';

const namespace = 'shop';
const path = policiesPath(namespace, 'v1');
const web = `${path}/web`;
const bases = plainPath('BaseImagePolicy', namespace);
const java = `${bases}/java`;
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const annotate = (name: string, value: string | null = 'any') => ({
  metadata: { annotations: { [`operator.technomad.dev/${name}`]: value } },
});
const suspend = { spec: { suspend: true } };
const policy = (name: string, more: object = {}) => ({
  apiVersion: 'operator.technomad.dev/v1',
  kind: 'ImagePolicy',
  metadata: { name, ...more },
  spec: { image: 'registry.example.com/shop/web', select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'web' }] },
});

const basePolicy = (name: string, more: object = {}) => ({
  apiVersion: 'operator.technomad.dev/v1',
  kind: 'BaseImagePolicy',
  metadata: { name, ...more },
  spec: { image: 'registry.example.com/library/base-java', select: { semver: {} }, workloads: [{}] },
});

/** Who has which ClusterRole in the namespace. GitOps tools often have rights of their own, on the kinds that they apply. */
const people = { viewer: 'view', developer: 'edit', owner: 'admin', approver: 'image-watcher-image-watcher-approver', gitops: 'gitops' };
type Person = keyof typeof people;

describe('permissions on policies', { skip: (await lacksHelm()) ?? false }, () => {
  let cluster: ControlPlane;
  const as = {} as Record<Person, KubeRequest>;
  before(async () => {
    cluster = await borrowControlPlane({ controllerManager: true });
    await installCrd(cluster, ['v1', 'v1alpha1']);
    await installPlainCrds(cluster);
    await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    for (const object of await renderChart({})) {
      const isBuiltIn = /^(?:ClusterRole|ValidatingAdmissionPolicy)/.test(object.kind) && !object.metadata.annotations?.['helm.sh/hook'];
      if (isBuiltIn) await cluster.request('POST', resourceOf(object, 'image-watcher'), object);
    }
    const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
    const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies', 'baseimagepolicies'], verbs }];
    await cluster.request('POST', `${rbac}/clusterroles`, { metadata: { name: 'gitops' }, rules });
    for (const [name, role] of Object.entries(people)) {
      await cluster.request('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
      await cluster.request('POST', `${rbac}/namespaces/${namespace}/rolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'ServiceAccount', name, namespace }],
      });
      as[name as Person] = kubeRequest({ ...cluster, token: await tokenOf(cluster, { namespace, name }) });
    }
    await cluster.request('POST', path, policy('web'));
    await cluster.request('POST', bases, basePolicy('java'));
    // Roles are aggregated, and the admission policy is compiled, some time after they were written.
    await waitFor('the rights of all', async () => {
      const tries = await Promise.all([
        answerTo('viewer', 'GET', web),
        answerTo('owner', 'PATCH', web, annotate('approve')),
        answerTo('developer', 'PATCH', web, annotate('release')),
        answerTo('approver', 'PATCH', web, annotate('approve')),
        answerTo('gitops', 'PATCH', web, annotate('approve')),
      ]);
      return tries.join() === '200,200,200,200,403';
    });
  });
  after(() => cluster.stop());

  /** The status of the answer, without anything being written. */
  const answerTo = (person: Person, method: string, where: string, body?: object): Promise<number> =>
    as[person](method, method === 'GET' ? where : `${where}?dryRun=All`, body).then(
      () => (method === 'POST' ? 201 : 200),
      (error: unknown) => (error instanceof KubeRequestError ? error.status : assert.fail(String(error))),
    );
  const whoMay = async (method: string, where: string, body?: object) => {
    const names = Object.keys(people) as Person[];
    const answers = await Promise.all(names.map((name) => answerTo(name, method, where, body)));
    for (const [index, answer] of answers.entries()) assert.ok([200, 201, 403].includes(answer), `${names[index]}: ${answer}`);
    return names.filter((_, index) => answers[index] !== 403);
  };

  for (const [about, method, where, body, wanted] of [
    ['read policies', 'GET', path, undefined, ['viewer', 'developer', 'owner', 'approver', 'gitops']],
    ['create policies', 'POST', path, policy('new'), ['developer', 'owner', 'gitops']],
    ['change what a policy says', 'PATCH', web, suspend, ['developer', 'owner', 'gitops']],
    ['delete policies', 'DELETE', web, undefined, ['developer', 'owner', 'gitops']],
    ['approve', 'PATCH', web, annotate('approve'), ['owner', 'approver']],
    ['approve what is created', 'POST', path, policy('new', annotate('approve').metadata), ['owner']],
    ['reject', 'PATCH', web, annotate('reject'), ['owner', 'approver']],
    [
      'reject in the name of somebody else',
      'PATCH',
      web,
      {
        metadata: {
          annotations: {
            ...annotate('reject', 'A').metadata.annotations,
            ...annotate('requested-by', 'reject A ada').metadata.annotations,
          },
        },
      },
      [],
    ],
    ['roll back', 'PATCH', web, annotate('rollback-to'), ['developer', 'owner', 'approver']],
    ['release', 'PATCH', web, annotate('release'), ['developer', 'owner', 'approver']],
    ['have the registry asked', 'PATCH', web, annotate('requested-at'), ['developer', 'owner', 'approver', 'gitops']],
    ['act in the name of somebody else', 'PATCH', web, annotate('requested-by', 'approve 1.0.0 ada'), []],
    [
      'create a policy in the name of somebody else',
      'POST',
      path,
      policy('new', annotate('requested-by', 'approve 1.0.0 ada').metadata),
      [],
    ],
    [
      'create a policy of a base in the name of somebody else',
      'POST',
      bases,
      basePolicy('new', annotate('requested-by', 'check 1 ada').metadata),
      [],
    ],
    ['approve, and change the policy with it', 'PATCH', web, { ...suspend, ...annotate('approve') }, ['owner']],
    ['remember another origin', 'PATCH', web, annotate('v1alpha1'), ['developer', 'owner', 'gitops']],
    ['label policies', 'PATCH', web, { metadata: { labels: { a: 'b' } } }, ['developer', 'owner', 'gitops']],
    ['have a policy deleted with something else', 'PATCH', web, ownedBy(), ['developer', 'owner', 'gitops']],
    ['keep a policy from being deleted', 'PATCH', web, { metadata: { finalizers: ['example.com/a'] } }, ['developer', 'owner', 'gitops']],
    ['write what the service found', 'PATCH', `${web}/status`, { status: { observedGeneration: 7 } }, []],
    ['read policies of bases', 'GET', bases, undefined, ['viewer', 'developer', 'owner', 'approver', 'gitops']],
    ['create policies of bases', 'POST', bases, basePolicy('new'), ['developer', 'owner', 'gitops']],
    ['change what a policy of a base says', 'PATCH', java, suspend, ['developer', 'owner', 'gitops']],
    ['approve a base', 'PATCH', java, annotate('approve'), ['owner', 'approver']],
    ['approve a base whose policy is created', 'POST', bases, basePolicy('new', annotate('approve').metadata), ['owner']],
    ['release a base', 'PATCH', java, annotate('release'), ['developer', 'owner', 'approver']],
    ['have the registry asked for a base', 'PATCH', java, annotate('requested-at'), ['developer', 'owner', 'approver', 'gitops']],
    ['write what the service found about a base', 'PATCH', `${java}/status`, { status: { observedGeneration: 7 } }, []],
  ] as const) {
    it(`let ${wanted.join(', ') || 'nobody'} ${about}`, async () => {
      assert.deepEqual(await whoMay(method, where, body), wanted);
    });
  }

  it('let nobody give a reason in the name of somebody else, but let other writers keep or remove a reason', async () => {
    const owner = `system:serviceaccount:${namespace}:owner`;
    const request = { 'operator.technomad.dev/approve': 'A', 'operator.technomad.dev/requested-by': `approve A ${owner}` };
    const reason = (text: string | null) => ({ metadata: { annotations: { 'operator.technomad.dev/request-reason': text } } });
    const asked = { metadata: { annotations: { ...request, ...reason('approve A it is tested').metadata.annotations } } };
    assert.equal(await answerTo('owner', 'PATCH', web, asked), 200);
    assert.equal(await answerTo('approver', 'PATCH', web, asked), 403);
    await as.owner('PATCH', web, asked);
    assert.deepEqual(await whoMay('PATCH', web, reason('approve A nobody tested it')), ['owner']);
    assert.deepEqual(await whoMay('PATCH', web, reason(null)), ['developer', 'owner', 'approver', 'gitops']);
    assert.deepEqual(await whoMay('PATCH', web, suspend), ['developer', 'owner', 'gitops']);
    const none = { 'operator.technomad.dev/approve': null, 'operator.technomad.dev/requested-by': null };
    await as.owner('PATCH', web, { metadata: { annotations: { ...none, ...reason(null).metadata.annotations } } });
  });

  describe('the annotation requested-by', () => {
    const owner = `system:serviceaccount:${namespace}:owner`;
    const acts = (annotations: Record<string, string | null>) => ({
      metadata: {
        annotations: Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`operator.technomad.dev/${name}`, value])),
      },
    });
    const rows: [about: string, annotations: Record<string, string>, isAllowed: boolean][] = [
      ['the own name', { approve: 'A', 'requested-by': `approve A ${owner}` }, true],
      ['the own name, for a rollback', { 'rollback-to': 'previous 1', 'requested-by': `rollback previous 1 ${owner}` }, true],
      ['the own name, for a promotion', { promote: 'A', 'requested-by': `promote A ${owner}` }, true],
      ['the own name, for a check', { 'requested-at': '1', 'requested-by': `check 1 ${owner}` }, true],
      ['somebody else before the own name', { approve: 'A', 'requested-by': `approve A ada ${owner}` }, false],
      ['another value than the one that is written', { approve: 'A', 'requested-by': `approve B ${owner}` }, false],
      ['another action', { approve: 'A', 'requested-by': `release A ${owner}` }, false],
      ['nothing but the own name', { approve: 'A', 'requested-by': ` ${owner}` }, false],
    ];
    for (const [about, annotations, isAllowed] of rows) {
      it(`is ${isAllowed ? 'accepted' : 'refused'} with ${about}, in a change and in a new policy`, async () => {
        const [changed, created] = isAllowed ? [200, 201] : [403, 403];
        assert.equal(await answerTo('owner', 'PATCH', web, acts(annotations)), changed);
        assert.equal(await answerTo('owner', 'POST', path, policy('new', acts(annotations).metadata)), created);
      });
    }

    it('may be kept by others who change something else, but not by others who request the same action', async () => {
      await as.owner('PATCH', web, acts({ approve: 'A', 'requested-by': `approve A ${owner}` }));
      assert.deepEqual(await whoMay('PATCH', web, suspend), ['developer', 'owner', 'gitops']);
      assert.equal(await answerTo('approver', 'PATCH', web, acts({ approve: 'B' })), 200);
      await as.owner('PATCH', web, acts({ approve: null }));
      // The page would name the owner as the one who has approved.
      assert.deepEqual(await whoMay('PATCH', web, acts({ approve: 'A' })), ['owner']);
      assert.deepEqual(await whoMay('PATCH', web, acts({ approve: 'A', 'requested-by': null })), ['owner', 'approver']);
      await as.owner('PATCH', web, acts({ approve: null, 'requested-by': null }));
    });
  });

  describeHolds({ namespace, as, whoMay, web });

  describeApprovals({ namespace, people: Object.keys(people), as, whoMay, policy, path });

  it('let only those approve through v1alpha1 who may approve through v1', async () => {
    const policyOfV1alpha1 = olderPolicy('old') as { metadata: object };
    const approved = { ...policyOfV1alpha1, metadata: { ...policyOfV1alpha1.metadata, namespace, ...annotate('approve').metadata } };
    assert.deepEqual(await whoMay('POST', policiesPath(namespace, 'v1alpha1'), approved), ['owner']);
  });

  it('let everybody who may write a policy keep or withdraw its approval', async () => {
    await cluster.request('PATCH', web, annotate('approve', 'TAG@DIGEST'));
    assert.deepEqual(await whoMay('PATCH', web, suspend), ['developer', 'owner', 'gitops']);
    const current = await cluster.request('GET', web);
    assert.deepEqual(await whoMay('PUT', web, current), ['developer', 'owner', 'gitops']);
    assert.deepEqual(await whoMay('PATCH', web, annotate('approve', 'another')), ['owner', 'approver']);
    assert.deepEqual(await whoMay('PATCH', web, annotate('approve', null)), ['developer', 'owner', 'approver', 'gitops']);
  });

  it('let the service write ImagePolicies only where it rolls out rebased images, and then their targets and rollbacks', async () => {
    const child = `${path}/child`;
    const targets = [{ kind: 'Deployment', name: 'next' }];
    const answersTo = async (name: string, rebase: boolean) => {
      await kubeconfigWithGrants(cluster, { namespace, name }, shippedGrants('work', { rebase }));
      const ask = kubeRequest({ ...cluster, token: await tokenOf(cluster, { namespace, name }) });
      const steps: [method: string, where: string, body?: object][] = [
        ['POST', path, policy('child')],
        ['PATCH', child, { spec: { targets } }],
        ['PATCH', child, annotate('rollback-to', '1.0.0')],
        ['PATCH', child, annotate('approve')],
        ['PATCH', `${child}/status`, { status: { observedGeneration: 7 } }],
        ['PATCH', `${java}/status`, { status: { observedGeneration: 7 } }],
        ['PATCH', java, suspend],
        ['DELETE', child],
      ];
      const answers: string[] = [];
      for (const [method, where, body] of steps) {
        const status = await ask(method, where, body).then(
          () => 'ok',
          (error: unknown) => (error instanceof KubeRequestError ? String(error.status) : assert.fail(String(error))),
        );
        answers.push(status);
      }
      return answers.join(' ');
    };
    assert.equal(await answersTo('rebasing', true), 'ok ok ok 403 ok ok 403 ok');
    assert.equal(await answersTo('watching', false), '403 403 403 403 404 ok 403 403');
  });

  it('are named in the refusal to a user who lacks them', async () => {
    const kubeconfig = await kubeconfigOf(cluster, { namespace, name: 'gitops' });
    const { code, err } = await runCommand('rollback', [`${namespace}/web`, '--to', '1.0.0', '--kubeconfig', kubeconfig]);
    assert.equal(code, 1);
    assert.match(err, /operator\.technomad\.dev\/rollback-to needs the right to "rollback" imagepolicies/);
    const approver = await kubeconfigOf(cluster, { namespace, name: 'approver' });
    const refused = await runCommand('suspend', [`${namespace}/web`, '--kubeconfig', approver]);
    assert.match(refused.err, /needs the right to "update" imagepolicies/);
  });
});

function ownedBy(): object {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: '00000000-0000-0000-0000-000000000000' };
  return { metadata: { ownerReferences: [owner] } };
}
