/** Guards and users' actions against the real API server: whose change was it, and who may make the next one. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { runCommand } from '../cli/run-command.ts';
import { startConversionEndpoint } from '../harness/conversion-endpoint.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, assertPatchedTimes, startWorld, type World } from './world.ts';

const any = { strategy: 'SemVer' } as const;

describe('guards', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
    await announce(world.registry, await world.start());
  });
  after(() => world.stop());

  const image = (name: string, tag: string) => `${world.registry.host}/shop/${name}:${tag}`;
  const push = (name: string, tag: string) =>
    pushImage({ host: world.registry.host, repository: `shop/${name}`, tag, content: `${name} ${tag}` });
  const create = async (name: string, more: Partial<Spec> = {}) => {
    await push(name, '1.0.0');
    await world.createDeployment(name, image(name, '1.0.0'));
    await world.createPolicy(name, `${world.registry.host}/shop/${name}`, any, more);
    await world.waitForFirstLook(name);
  };
  const createPaused = (name: string) => {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: image(name, '1.0.0') }] } };
    const body = { metadata: { name }, spec: { paused: true, selector: { matchLabels: labels }, template } };
    return world.cluster.request('POST', world.deploymentPath('').replace(/\/$/, ''), body);
  };
  /** As a tool that writes under its own name. */
  const setImage = (name: string, tag: string, manager: string) => {
    const patch = { spec: { template: { spec: { containers: [{ name: 'c0', image: image(name, tag) }] } } } };
    const path = `${world.deploymentPath(name)}?fieldManager=${manager}`;
    return world.cluster.request('PATCH', path, patch, 'application/strategic-merge-patch+json');
  };
  const imageOf = async (name: string) => (await world.readDeployment(name)).spec.template.spec.containers[0]?.image;
  const cli = (command: string, name: string, ...args: string[]) =>
    runCommand(command, [`${world.namespace}/${name}`, ...args, '--kubeconfig', world.cluster.kubeconfigPath]);
  /** The service may see a change of the workload some moments after us. */
  const checkUntil = (name: string, isSo: () => Promise<boolean>) =>
    waitFor(`${name} to be looked at`, async () => {
      await cli('check', name);
      return isSo();
    });
  const waitForHistory = (name: string, tag: string) =>
    waitFor(`the history of ${name} to begin with ${tag}`, async () => (await world.readStatus(name)).history?.[0]?.tag === tag);

  it('dry run: reports the plan, and writes nothing', async () => {
    await create('dry', { update: { mode: 'DryRun' } });
    await push('dry', '1.0.1');
    const ready = await world.waitForCondition('dry', 'Ready', 'DryRun');
    assert.match(ready.message, /c0 from .*:1\.0\.0 to .*:1\.0\.1/);
    await waitFor('an Event that tells the plan', async () => {
      const events = await world.waitForEvents('ImagePolicy', 'dry');
      return events.some(({ reason, message }) => reason === 'DryRun' && message.includes('1.0.1'));
    });
    assertPatchedTimes(await world.readDeployment('dry'), 0);
    const explained = await cli('explain', 'dry');
    assert.equal(explained.code, 1);
    assert.match(explained.out, /dry-run +DryRun/);
  });

  it('approval: applies exactly what was approved', async () => {
    await create('approved', { update: { mode: 'Approval' } });
    assert.equal((await cli('approve', 'approved')).code, 1, 'nothing is pending');
    const { digest } = await push('approved', '1.0.1');
    await world.waitForCondition('approved', 'ApprovalRequired', 'ApprovalRequired');
    assert.deepEqual((await world.readStatus('approved')).pendingApproval, { tag: '1.0.1', digest });
    assert.equal((await cli('approve', 'approved', '1.0.0')).code, 1, 'something else is pending');
    assertPatchedTimes(await world.readDeployment('approved'), 0);
    const { code, out } = await cli('approve', 'approved', '1.0.1', '--output', 'json');
    assert.equal(code, 0);
    assert.equal((JSON.parse(out) as { approved: string }).approved, `1.0.1@${digest}`);
    assertPatchedTimes(await world.waitForImage('approved', image('approved', '1.0.1')), 1);
    await waitForHistory('approved', '1.0.1');
    const { pendingApproval, history } = await world.readStatus('approved');
    assert.deepEqual([pendingApproval, history?.[0]?.trigger], [undefined, 'Approval']);
    assert.equal(await world.condition('approved', 'ApprovalRequired'), undefined);
  });

  it('window: delays an update until the next window, and then applies it', async () => {
    const clock = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
    await create('windowed', { update: { windows: [{ from: clock(3), to: clock(4), timeZone: 'UTC' }] } });
    await push('windowed', '1.0.1');
    await world.waitForCondition('windowed', 'Reconciling', 'Window');
    const { waiting } = await world.readStatus('windowed');
    assert.deepEqual([waiting?.tag, waiting?.reason], ['1.0.1', 'Window']);
    assertPatchedTimes(await world.readDeployment('windowed'), 0);
    await world.patchPolicy('windowed', { update: { windows: [{ from: clock(-3), to: clock(3), timeZone: 'UTC' }] } });
    await world.waitForImage('windowed', image('windowed', '1.0.1'));
    await world.waitForCondition('windowed', 'Ready', 'UpToDate');
    assert.equal((await world.readStatus('windowed')).waiting, undefined);
  });

  it('held: keeps an image set with kubectl until a newer image or a release', async () => {
    await create('held');
    await push('held', '1.0.1');
    await world.waitForImage('held', image('held', '1.0.1'));
    await waitForHistory('held', '1.0.1');
    await setImage('held', '1.0.0', 'kubectl-set');
    await checkUntil('held', async () => (await world.condition('held', 'Held'))?.reason === 'Held');
    assert.equal(await imageOf('held'), image('held', '1.0.0'));
    assert.match((await cli('explain', 'held')).out, /held +Held: .*kubectl-set changed c0/);

    assert.equal((await cli('release', 'held')).code, 0);
    await world.waitForImage('held', image('held', '1.0.1'));
    await waitFor('the hold to be over', async () => (await world.condition('held', 'Held')) === undefined);

    await setImage('held', '1.0.0', 'kubectl-edit');
    await push('held', '1.0.2');
    await world.waitForImage('held', image('held', '1.0.2'));
  });

  it('kill -9 between the patch and the status: no container is held', async () => {
    await create('killed');
    await push('killed', '1.0.1');
    await world.waitForImage('killed', image('killed', '1.0.1'));
    await waitForHistory('killed', '1.0.1');
    // What a killed worker leaves: our patch, which no status tells of.
    await setImage('killed', '1.0.0', 'image-watcher');
    await checkUntil('killed', async () => (await imageOf('killed')) === image('killed', '1.0.1'));
    assert.equal(await world.condition('killed', 'Held'), undefined);
  });

  it('reverted: stops updating when a GitOps tool reverts the image twice', async () => {
    await create('fought');
    await push('fought', '1.0.1');
    await world.waitForImage('fought', image('fought', '1.0.1'));
    await waitForHistory('fought', '1.0.1');
    await setImage('fought', '1.0.0', 'argocd-controller');
    await checkUntil('fought', async () => (await world.readStatus('fought')).reverted?.[0]?.count === 1);
    assert.equal(await imageOf('fought'), image('fought', '1.0.1'));
    await setImage('fought', '1.0.0', 'argocd-controller');
    await checkUntil('fought', async () => (await world.condition('fought', 'Stalled')) !== undefined);
    const stalled = await world.waitForCondition('fought', 'Stalled', 'ChangeReverted');
    assert.match(stalled.message, /argocd-controller has put .* back 2 times/);
    await cli('check', 'fought');
    // Two changes of ours, two of theirs.
    assertPatchedTimes(await world.readDeployment('fought'), 4);
    await push('fought', '1.0.2');
    await world.waitForImage('fought', image('fought', '1.0.2'));
  });

  it('rewritten: admission that changes our image causes no loop', async () => {
    const endpoint = await startConversionEndpoint((body) => ({ status: 200, body: harden(body) }));
    const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
    try {
      await create('hardened');
      await world.cluster.request('POST', path, webhookOf(endpoint.url, endpoint.caPem));
      await waitFor('the webhook to be asked', async () => {
        await world.annotate(world.deploymentPath('hardened'), { 'example.com/probe': String(endpoint.reviews()) });
        return endpoint.reviews() > 0;
      });
      const { generation } = (await world.readDeployment('hardened')).metadata;
      await push('hardened', '1.0.1');
      await world.waitForImage('hardened', image('hardened', '1.0.1-hardened'));
      await waitForHistory('hardened', '1.0.1');
      assert.equal((await world.readStatus('hardened')).history?.[0]?.to, image('hardened', '1.0.1-hardened'));
      for (const _ of [1, 2]) assert.equal((await cli('check', 'hardened')).code, 0);
      assert.equal((await world.readDeployment('hardened')).metadata.generation, generation + 1);
      assert.equal((await world.condition('hardened', 'Ready'))?.reason, 'UpToDate');
    } finally {
      await world.cluster.request('DELETE', `${path}/harden`);
      await waitFor('the webhook not to be asked any more', async () => {
        const before = endpoint.reviews();
        await world.annotate(world.deploymentPath('hardened'), { 'example.com/probe': String(before) });
        return endpoint.reviews() === before;
      });
      await endpoint.stop();
    }
  });

  it('rollback: stays at the former image, and continues with a newer image or a release', async () => {
    await create('back');
    await push('back', '1.0.1');
    await world.waitForImage('back', image('back', '1.0.1'));
    await waitForHistory('back', '1.0.1');
    const { code, err } = await cli('rollback', 'back');
    assert.equal(code, 0, err);
    assert.equal(await imageOf('back'), image('back', '1.0.0'));
    await world.waitForCondition('back', 'Held', 'RejectedDigest');
    await cli('check', 'back');
    assert.equal(await imageOf('back'), image('back', '1.0.0'));
    assert.equal((await cli('rollback', 'back', '--to', '7.7.7')).code, 1);
    await cli('release', 'back');
    await world.waitForImage('back', image('back', '1.0.1'));
    await waitForHistory('back', '1.0.1');
    assert.equal((await cli('rollback', 'back', '--to', '1.0.0')).code, 0);
    await push('back', '1.0.2');
    await world.waitForImage('back', image('back', '1.0.2'));
  });

  it('rollback: repeats an earlier rollback request after another request in between', async () => {
    await create('asked');
    for (const tag of ['1.0.1', '1.0.2']) {
      await push('asked', tag);
      await world.waitForImage('asked', image('asked', tag));
      await waitForHistory('asked', tag);
    }
    const ask = (action: string, value: string) =>
      world.annotate(world.policyPath('asked'), { [`operator.technomad.dev/${action}`]: value });
    for (const request of ['a', 'b', 'a', 'b']) {
      await ask('requested-at', request);
      await waitFor(`an answer to ${request}`, async () => (await world.readStatus('asked')).lastHandledRequest === request);
    }
    for (const tag of ['1.0.1', '1.0.0', '1.0.1']) {
      await ask('rollback-to', tag);
      await world.waitForImage('asked', image('asked', tag));
      await waitFor(`an answer to ${tag}`, async () => (await world.readStatus('asked')).lastHandledRollback === tag);
    }
  });

  it('paused: writes nothing until the policy is resumed', async () => {
    await push('paused', '1.0.1');
    await world.createPolicy('paused', `${world.registry.host}/shop/paused`, any);
    await world.waitForCondition('paused', 'Stalled', 'TargetNotFound');
    await createPaused('paused');
    await world.waitForCondition('paused', 'Held', 'TargetPaused');
    assert.equal(await imageOf('paused'), image('paused', '1.0.0'));
    await world.cluster.request('PATCH', world.deploymentPath('paused'), { spec: { paused: false } });
    await world.waitForImage('paused', image('paused', '1.0.1'));
  });

  it('suspend and resume stop and continue a policy', async () => {
    await create('left');
    assert.equal((await cli('suspend', 'left')).code, 0);
    await world.waitForCondition('left', 'Ready', 'Suspended');
    await push('left', '1.0.1');
    const asked = await cli('check', 'left');
    assert.match(asked.out, /Ready: True, Suspended/);
    assert.match((await cli('explain', 'left')).out, /suspended/);
    assert.equal(await imageOf('left'), image('left', '1.0.0'));
    assert.equal((await cli('resume', 'left')).code, 0);
    await world.waitForImage('left', image('left', '1.0.1'));
  });

  it('explain answers for a push that has not happened and for objects that do not exist', async () => {
    await create('explained');
    const explain = (tag: string) => cli('explain', 'explained', '--push', image('explained', tag));
    const allowed = await explain('1.0.1');
    assert.deepEqual([allowed.code, /c0 would be changed .* to .*:1\.0\.1/.test(allowed.out)], [0, true], allowed.out);
    const olderExplanation = await explain('0.9.0');
    assert.deepEqual([olderExplanation.code, /OlderThanRunning/.test(olderExplanation.out)], [1, true], olderExplanation.out);
    assert.match((await explain('main')).out, /^a push of main would change nothing: "main" is not a semantic version/);
    assert.match((await cli('explain', 'explained', '--push', image('other', '1.0.1'))).out, /the policy watches .*shop\/explained/);
    const missing = await cli('explain', 'missing');
    assert.deepEqual([missing.code, /there is no ImagePolicy .*missing/.test(missing.err)], [1, true]);
    assertPatchedTimes(await world.readDeployment('explained'), 0);
  });

  it('the condition and explain say which prereleases a range admits', async () => {
    const note = /of prereleases, ">=1\.0\.0-0, <2" admits only those of 1\.0\.0: .* prereleases: true/;
    await create('early', { select: { semver: { range: '>=1.0.0-0, <2' } } });
    await push('early', '1.1.0');
    await world.waitForImage('early', image('early', '1.1.0'));
    await waitForHistory('early', '1.1.0');
    await waitFor('Ready to say so', async () => note.test((await world.condition('early', 'Ready'))?.message ?? ''));
    await push('early', '1.2.0-rc.1');
    const explained = await cli('explain', 'early');
    assert.match(explained.out, /selects the highest version in ">=1\.0\.0-0, <2": 1\.1\.0/);
    assert.match(explained.out, note);
    assert.match((await cli('explain', 'early', '--push', image('early', '1.2.0-rc.1'))).out, note);
  });
});

/** An admission webhook's answer: what the repository shop/hardened releases is replaced by a hardened image. */
function harden(body: unknown): object {
  const { request } = body as {
    request: { uid: string; object: { spec: { template: { spec: { containers: { image: string }[] } } } } };
  };
  const patch = request.object.spec.template.spec.containers.flatMap((container, index) =>
    container.image.endsWith('/shop/hardened:1.0.1')
      ? [{ op: 'replace', path: `/spec/template/spec/containers/${index}/image`, value: `${container.image}-hardened` }]
      : [],
  );
  const response = {
    uid: request.uid,
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
  };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

function webhookOf(url: string, caPem: string): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'harden' },
    webhooks: [
      {
        name: 'harden.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url, caBundle: Buffer.from(caPem).toString('base64') },
        rules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] }],
      },
    ],
  };
}
