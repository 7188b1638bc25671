import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { approvalAnnotation, formatApproval } from '../../../src/core/model/named-approvals.ts';
import { actionAnnotations, requestedByAnnotation, requestReasonAnnotation } from '../../../src/core/model/policy-actions.ts';
import { actionFor } from '../../../src/bases/policies/action-for.ts';
import { pipelineOf } from '../../../src/bases/triggers/find-project.ts';
import { base, now, secretRef, rebase, trigger, policyWith, imageOf, run } from './acting.ts';

describe('act', () => {
  it('takes the first action that applies to an image', () => {
    const { onNewBase } = policyWith({
      onNewBase: [{ rebase: { ...rebase.rebase, images: ['harbor.example.com/shop/*'] } }, trigger({ images: ['*/tools/*'] })],
    }).spec;
    const kindFor = (path: string) => actionFor({ source: { registry: 'harbor.example.com', path } }, onNewBase).kind;
    assert.deepEqual(['shop/web', 'tools/lint', 'other/app'].map(kindFor), ['rebase', 'trigger', 'report']);
  });

  it('only reports where nothing else applies', async () => {
    const web = imageOf('web');
    const { stateOf, created, requested } = await run({}, [web]);
    assert.deepEqual(stateOf(web), { state: 'Behind', action: 'report' });
    assert.deepEqual([created, requested], [[], []]);
  });

  it('restarts no workload whose tag has no image on the new base yet', async () => {
    const web = imageOf('web', { tag: 'main' });
    const { stateOf } = await run({ onNewBase: [{ restart: { images: ['*'] } }] }, [web]);
    assert.deepEqual(stateOf(web), {
      state: 'Behind',
      action: 'restart',
      message: 'its workloads are restarted when the tag has an image on the new base',
    });
  });

  it('does not promise a restart to an image that is named by its digest', async () => {
    const web = imageOf('web', { tag: 'main', isPinned: true });
    const { stateOf } = await run({ onNewBase: [{ restart: { images: ['*'] } }] }, [web]);
    assert.equal(stateOf(web)?.message, 'its workloads name it by its digest, which a restart does not change');
  });

  it('still shows which restart has failed after the base was rejected for it', async () => {
    const web = imageOf('web', { tag: 'main' });
    const [{ workload } = { workload: undefined }] = web.workloads;
    assert.ok(workload !== undefined);
    const images = [
      { ...web, workloads: [{ workload: { ...workload, namespace: 'platform' }, containers: ['app'], hasInitContainers: false }] },
    ];
    const rollout = { observedGeneration: 1, wanted: 1, toUpdate: 1, updated: 1, available: 0, outdated: 0, wasComplete: false };
    const digests = new Map([['app', new Set([web.digest])]]);
    const pods = { uid: 'u', resourceVersion: '1', generation: 1, rollout, restartedFor: [web.digest], pullsAlways: ['app'], digests };
    const status = {
      waves: { base: base.digest, pending: 0, progressing: 0, done: 0, failed: 1 },
      rejected: [{ ...base, at: '2026-11-23T11:56:00Z', message: 'it does not start' }],
    };
    const current = { images, pods: { ...pods, restartedAt: '2026-11-23T11:40:00Z' } };
    const acted = await run({ onNewBase: [{ restart: { images: ['*'] } }] }, [], { status, current });
    assert.deepEqual(
      [...acted.states.values()].map(({ state }) => state),
      ['Failed'],
    );
    assert.deepEqual([acted.status.waves?.failed, acted.status.waves?.stopped], [1, 'it does not start']);
  });

  it('changes nothing with mode: DryRun, and says what would apply', async () => {
    const web = imageOf('web');
    const { stateOf, created, requested, dates } = await run({ mode: 'DryRun', onNewBase: [rebase] }, [web]);
    assert.equal(stateOf(web)?.reason, 'DryRun');
    assert.match(stateOf(web)?.message ?? '', /rebase would apply/);
    assert.deepEqual([created, requested, dates], [[], [], []]);
  });

  it('asks for no approval where nothing is to be restarted', async () => {
    const image = imageOf('web', { tag: 'main' });
    const rollout = { observedGeneration: 1, wanted: 1, toUpdate: 1, updated: 1, available: 1, outdated: 0, wasComplete: true };
    const digests = new Map([['app', new Set([image.digest])]]);
    const pods = { uid: 'u', resourceVersion: '1', generation: 1, rollout, restartedFor: [], pullsAlways: ['app'], digests };
    const spec = { mode: 'Approval', onNewBase: [{ restart: { images: ['*'] } }] };
    const { status, states } = await run(spec, [], { current: { images: [image], pods } });
    assert.deepEqual([status.pendingApproval, states.size], [undefined, 0]);
  });

  it('waits for the approval of this very base', async () => {
    const web = imageOf('web');
    const spec = { mode: 'Approval', onNewBase: [trigger()] };
    const approve = (value: string) => ({ annotations: { 'operator.technomad.dev/approve': value } });
    const waiting = await run(spec, [web]);
    assert.deepEqual(waiting.status.pendingApproval, base);
    assert.match(
      waiting.stateOf(web)?.message ?? '',
      new RegExp(`platform/java with operator.technomad.dev/approve: 21.0.6@${base.digest}`),
    );
    assert.equal((await run(spec, [web], approve(`21.0.6@sha256:${'e'.repeat(64)}`))).requested.length, 0);
    const approved = await run(spec, [web], approve(`21.0.6@${base.digest}`));
    assert.deepEqual([approved.requested.length, approved.status.pendingApproval], [1, undefined]);
  });

  it('waits for several people, and does nothing for a base that somebody has rejected, also if it was approved', async () => {
    const web = imageOf('web');
    const spec = { mode: 'Approval', approvals: { count: 2 }, onNewBase: [trigger()] };
    const round = { ...base, since: '2026-11-23T11:00:00Z', generation: 1, required: 2 };
    const at = '2026-11-23T11:30:00Z';
    const by = (user: string) => ({ [approvalAnnotation(user)]: formatApproval({ ...base, at, user }) });
    const status = { approvals: round };
    const approve = { [actionAnnotations.approve]: `${base.tag}@${base.digest}` };
    const waiting = await run(spec, [web], { status, annotations: { ...by('ada'), ...approve } });
    assert.deepEqual([waiting.requested.length, waiting.status.pendingApproval], [0, base]);
    assert.match(waiting.stateOf(web)?.message ?? '', /1 of 2 approvals \(ada\).*image-watcher approve -n platform bipol\/java/);
    assert.equal((await run(spec, [web], { status, annotations: { ...by('ada'), ...by('bob') } })).requested.length, 1);
    const value = `${base.tag}@${base.digest} ${at}`;
    const annotations = {
      ...approve,
      [actionAnnotations.reject]: value,
      [requestedByAnnotation]: `reject ${value} cy`,
      [requestReasonAnnotation]: `reject ${value} breaks the login`,
    };
    for (const mode of ['Approval', 'Automatic']) {
      const rejected = await run({ mode, onNewBase: [rebase] }, [web], { annotations });
      assert.deepEqual([rejected.created, rejected.steps, rejected.status], [[], [], {}]);
      assert.deepEqual(rejected.stateOf(web), {
        state: 'Behind',
        action: 'rebase',
        reason: 'RejectedByUser',
        message: '21.0.6 was rejected by cy: breaks the login',
      });
    }
  });
});

describe('rebase', () => {
  it('rebases the image and creates a child for the first wave', async () => {
    const web = imageOf('web');
    const { created, stateOf, status } = await run({ onNewBase: [rebase], windows: [{ from: '08:00', to: '16:00' }] }, [web]);
    const [child] = created;
    assert.deepEqual(child?.spec, {
      image: 'harbor.example.com/shop/web',
      select: { replace: { from: '1.2.3', to: '1.2.3-base.20261123' } },
      targets: [{ kind: 'Deployment', namespace: 'shop', name: 'web', containers: ['app'] }],
      update: { windows: [{ from: '08:00', to: '16:00', timeZone: 'UTC' }] },
      rollout: { onFailure: 'Rollback' },
    });
    assert.deepEqual(child?.metadata.ownerReferences[0], {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'BaseImagePolicy',
      name: 'java',
      uid: 'u1',
      controller: true,
      blockOwnerDeletion: false,
    });
    assert.deepEqual(stateOf(web), { state: 'Rebased', action: 'rebase', rebased: '1.2.3-base.20261123' });
    assert.equal(status.waves?.progressing, 1);
  });

  it('keeps the digest in the image of a workload that names one', async () => {
    const { created } = await run({ onNewBase: [rebase] }, [imageOf('web', { isPinned: true })]);
    assert.deepEqual(created[0]?.spec.update, { pin: 'Digest' });
  });

  it('refuses the image of a mutable tag, because what the tag points to later would never run', async () => {
    const web = imageOf('web', { tag: 'main' });
    const { created, stateOf } = await run({ onNewBase: [rebase] }, [web]);
    assert.deepEqual([stateOf(web)?.reason, created], ['RebaseRefused', []]);
  });

  it('dates the tag by when the base was selected, so that a later try has the same result', async () => {
    const selected = { latest: { ...base, selectedAt: '2026-11-20T08:00:00Z' } };
    assert.deepEqual((await run({ onNewBase: [rebase] }, [imageOf('web')], { status: selected })).dates, ['2026-11-20T08:00:00.000Z']);
  });

  it('reports a refusal, and continues with the others', async () => {
    const [web, api] = [imageOf('web'), imageOf('api')];
    const refused = { refused: { reason: 'UserChanged', message: 'the user is another one' } };
    const ok = { tag: 'x-base.20261123', digest: base.digest };
    const { stateOf, created } = await run({ onNewBase: [rebase] }, [web, api], {
      rebased: (path) => (path === 'shop/web' ? refused : ok),
    });
    assert.deepEqual(stateOf(web), { state: 'Refused', action: 'rebase', ...refused.refused });
    assert.deepEqual([stateOf(api)?.state, created.length], ['Rebased', 1]);
  });

  it('reports a fault of the registry, and tries again after a minute', async () => {
    const web = imageOf('web');
    const rebased = () => {
      throw new Error('the registry answered 503');
    };
    const { stateOf, until, created } = await run({ onNewBase: [rebase] }, [web], { rebased });
    assert.deepEqual(stateOf(web), { state: 'Behind', action: 'rebase', reason: 'Retrying', message: 'the registry answered 503' });
    assert.deepEqual([until, created], [new Date(now + 60_000), []]);
  });

  it('does not rebase onto a base that was rejected', async () => {
    const web = imageOf('web');
    const status = { rejected: [{ ...base, at: '2026-11-23T11:00:00Z', message: 'it crashed' }] };
    const { stateOf, created, dates } = await run({ onNewBase: [rebase] }, [web], { status });
    assert.equal(stateOf(web)?.reason, 'BaseRejected');
    assert.deepEqual([created, dates], [[], []]);
  });

  it('refuses an image without a tag', async () => {
    const web = imageOf('web', { tag: undefined });
    assert.equal((await run({ onNewBase: [rebase] }, [web])).stateOf(web)?.reason, 'ImageHasNoTag');
  });
});

const pipeline = pipelineOf({ system: 'githubDispatch', project: '$source', name: 'base-image' });

describe('trigger', () => {
  it('requests one rebuild for all images of a source', async () => {
    const [web, worker] = [imageOf('web'), imageOf('worker', { builtFrom: 'https://github.com/shop/web' })];
    const { requested, stateOf, status, until } = await run({ onNewBase: [trigger()] }, [web, worker]);
    assert.deepEqual(
      requested.map(({ source, image }) => [source, image]),
      [['shop/web', 'harbor.example.com/shop/web:1.2.3']],
    );
    assert.deepEqual([stateOf(web)?.state, stateOf(worker)?.state], ['Requested', 'Requested']);
    assert.equal(status.requests?.[0]?.state, 'Pending');
    assert.deepEqual(until, new Date(now + 7_200_000));
  });

  it('does not repeat a request, and reports the answer of the CI system', async () => {
    const web = imageOf('web');
    const source = 'shop/web';
    const at = '2026-11-23T11:30:00Z';
    const failed = { pipeline, source, at, state: 'Failed' as const, message: '404: no such repository' };
    const { requested, stateOf, until } = await run({ onNewBase: [trigger()] }, [web], { rebuilds: [failed] });
    assert.deepEqual([requested, until], [[], undefined]);
    assert.deepEqual(stateOf(web), { state: 'Failed', action: 'trigger', at, reason: 'RebuildRefused', message: failed.message });
  });

  it('reports a rebuilt image that does not come', async () => {
    const web = imageOf('web');
    const rebuilds = [{ pipeline, source: 'shop/web', at: '2026-11-23T09:59:59Z', state: 'Requested' as const }];
    const { stateOf } = await run({ onNewBase: [trigger()] }, [web], { rebuilds });
    assert.equal(stateOf(web)?.state, 'RebuildOverdue');
    assert.match(stateOf(web)?.message ?? '', /after 2h: look at the pipeline/);
    assert.equal((await run({ onNewBase: [trigger({ rebuildWithin: '3h' })] }, [web], { rebuilds })).stateOf(web)?.state, 'Requested');
  });

  it('reports an image that does not say which source it is built from', async () => {
    const { builtFrom: _, ...web } = imageOf('web');
    const { requested, stateOf } = await run({ onNewBase: [trigger()] }, [web]);
    assert.deepEqual([requested.length, stateOf(web)?.reason], [0, 'SourceUnknown']);
  });

  it('does not let the source of an image lead to another host', async () => {
    const web = imageOf('web', { builtFrom: 'https://evil.example.com/shop/web' });
    const { requested, stateOf } = await run({ onNewBase: [trigger()] }, [web]);
    assert.deepEqual([requested.length, stateOf(web)?.reason], [0, 'SourceUnknown']);
    assert.match(stateOf(web)?.message ?? '', /a source on evil\.example\.com, and the policy calls github\.com/);
  });

  it('requests a pending rebuild again, in case its job was lost, and a failed one after a release', async () => {
    const web = imageOf('web');
    const at = '2026-11-23T11:30:00Z';
    const pending = [{ pipeline, source: 'shop/web', at, state: 'Pending' as const }];
    assert.equal((await run({ onNewBase: [trigger()] }, [web], { rebuilds: pending })).requested.length, 1);
    const failed = [{ pipeline, source: 'shop/web', at, state: 'Failed' as const }];
    const annotations = { 'operator.technomad.dev/release': '2026-11-23T11:45:00Z' };
    const released = await run({ onNewBase: [trigger()] }, [web], { rebuilds: failed, annotations });
    assert.deepEqual([released.requested.length, released.stateOf(web)?.reason], [1, 'RebuildPending']);
  });

  it('requests the rebuild of the repository that the policy names', async () => {
    const { builtFrom: _, ...web } = imageOf('web');
    const github = { repository: 'shop/monorepo', event: 'base-image', secretRef };
    const { requested } = await run({ onNewBase: [trigger({ github })] }, [web, imageOf('api')]);
    assert.deepEqual(
      requested.map(({ source }) => source),
      ['shop/monorepo'],
    );
  });

  it('requests a rebuild of one source from each pipeline that has to build it', async () => {
    const [web, api] = [imageOf('web'), imageOf('api')];
    const build = (name: string, workflow: string) => ({
      trigger: { images: [`harbor.example.com/shop/${name}`], github: { repository: 'shop/builder', workflow, ref: 'main', secretRef } },
    });
    const { requested, stateOf } = await run({ onNewBase: [build('web', 'java.yml'), build('api', 'go.yml')] }, [web, api]);
    assert.deepEqual(
      requested.map(({ source, image }) => [source, image]),
      ['web', 'api'].map((name) => ['shop/builder', `harbor.example.com/shop/${name}:1.2.3`]),
    );
    assert.notEqual(requested[0]?.pipeline, requested[1]?.pipeline);
    assert.equal(stateOf(api)?.state, 'Requested');
  });

  it('requests a rebuild again that was requested when the base was selected before, unless it is under way', async () => {
    const web = imageOf('web');
    const rebuilds = [{ pipeline, source: 'shop/web', at: '2026-11-23T09:00:00Z', state: 'Requested' as const }];
    const status = { latest: { ...base, selectedAt: '2026-11-23T11:59:00Z' } };
    const { requested, stateOf } = await run({ onNewBase: [trigger()] }, [web], { rebuilds, status });
    assert.deepEqual([requested[0]?.after, stateOf(web)?.reason], ['2026-11-23T09:00:00Z', 'RebuildPending']);
    const underWay = await run({ onNewBase: [trigger({ rebuildWithin: '4h' })] }, [web], { rebuilds, status });
    assert.deepEqual([underWay.requested, underWay.stateOf(web)?.state], [[], 'Requested']);
    // Its record is that of the new request from the first try on.
    const after = '2026-11-23T09:00:00Z';
    const tried = [{ pipeline, source: 'shop/web', state: 'Pending' as const, at: '2026-11-23T11:59:30Z', after }];
    assert.equal((await run({ onNewBase: [trigger()] }, [web], { rebuilds: tried, status })).requested[0]?.after, after);
  });

  it('requests nothing for a base that is rejected', async () => {
    const web = imageOf('web');
    const rejected = [{ ...base, at: '2026-11-23T11:00:00Z', message: 'it crashes' }];
    const { requested, stateOf } = await run({ onNewBase: [trigger()] }, [web], { status: { rejected } });
    assert.deepEqual([requested, stateOf(web)?.reason], [[], 'BaseRejected']);
  });
});
