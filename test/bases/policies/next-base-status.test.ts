import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import type { ImageState } from '../../../src/bases/policies/act.ts';
import type { ExaminedImage } from '../../../src/bases/policies/examine-images.ts';
import {
  nextBaseStatus,
  whileExamining,
  whileSuspended,
  withProblem,
  type Findings,
} from '../../../src/bases/policies/next-base-status.ts';
import type { BaseStatus } from '../../../src/core/model/base-status.ts';

const at = new Date('2026-11-23T12:00:00Z');
const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;
const base = { tag: '21.0.7', digest: digestOf('b') };
const older = digestOf('a');

function policyOf(status: BaseStatus = {}, annotations: object = {}) {
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 3, annotations };
  const spec = { image: 'harbor.example.com/library/base-java', select: { semver: {} }, workloads: [{}] };
  return readBasePolicy({ metadata, spec, status }, { aliases: new Map(), customTargets: [] });
}

function imageOf(name: string, state: ExaminedImage['state']): ExaminedImage {
  const workload = { kind: 'Deployment', namespace: 'shop', name };
  const source = { registry: 'harbor.example.com', path: `shop/${name}` };
  const isBuilt = state === 'Behind' || state === 'Current';
  return {
    image: {
      repository: source,
      tag: '1.2.3',
      digest: undefined,
      workloads: [{ workload, containers: ['app'], hasInitContainers: false }],
    },
    source,
    digest: digestOf('1'),
    state,
    recognition: isBuilt
      ? {
          kind: 'recognized',
          by: 'Layers',
          base: {
            repository: 'harbor.example.com/library/base-java',
            tags: [state === 'Current' ? base.tag : '21.0.6'],
            digest: state === 'Current' ? base.digest : older,
          },
        }
      : { kind: state === 'Unrelated' ? 'unrelated' : 'unknown', reason: 'its layers were squashed' },
  };
}

const found = (images: readonly ExaminedImage[], more: Partial<Findings> = {}): Findings => ({
  base,
  images,
  versions: { known: 2, unread: 0, isBeingRead: false },
  stateOf: () => undefined,
  unpermitted: [],
  acted: {},
  checkedAt: at.getTime(),
  ...more,
});
const next = (status: BaseStatus, findings: Findings, annotations?: object) => nextBaseStatus(policyOf(status, annotations), findings, at);
const readyOf = ({ conditions = [] }: BaseStatus) => conditions.find(({ type }) => type === 'Ready');

describe('nextBaseStatus', () => {
  it('counts images, and lists those that are built on the base or may be', () => {
    const status = next({}, found([imageOf('a', 'Behind'), imageOf('b', 'Current'), imageOf('c', 'Unknown'), imageOf('d', 'Unrelated')]));
    assert.deepEqual(status.images, { total: 4, current: 1, behind: 1, otherLine: 0, unknown: 1, unrelated: 1 });
    assert.deepEqual(
      status.dependents?.map(({ image, state, base }) => [image, state, base]),
      [
        ['harbor.example.com/shop/a:1.2.3', 'Behind', `21.0.6@${older}`],
        ['harbor.example.com/shop/c:1.2.3', 'Unknown', undefined],
        ['harbor.example.com/shop/b:1.2.3', 'Current', `21.0.7@${base.digest}`],
      ],
    );
    assert.deepEqual([readyOf(status)?.status, readyOf(status)?.reason, status.observedGeneration], ['True', 'ImagesBehind', 3]);
    assert.equal(
      readyOf(status)?.message,
      '1 of 4 images are behind 21.0.7; of 1 the base is not known, such as harbor.example.com/shop/c:1.2.3: its layers were squashed: let the build name its base or build the image anew, if status.dependents says nothing else',
    );
  });

  it('holds a base that somebody has rejected until a release, and says who and why', () => {
    const reject = `${base.tag}@${base.digest} 2026-11-23T11:59:00Z`;
    const annotations = {
      'operator.technomad.dev/reject': reject,
      'operator.technomad.dev/requested-by': `reject ${reject} ada`,
      'operator.technomad.dev/request-reason': `reject ${reject} breaks the login`,
    };
    const before: BaseStatus = { latest: { ...base, selectedAt: '2026-11-23T11:00:00Z' }, pendingApproval: base };
    const status = next(before, found([imageOf('a', 'Behind')]), annotations);
    const { pendingApproval, lastHandledRejection, rejected, history } = status;
    assert.deepEqual([pendingApproval, lastHandledRejection, history?.[0]?.result], [undefined, reject, 'Rejected']);
    assert.deepEqual(
      rejected?.map(({ digest, reason, message }) => [digest, reason, message]),
      [[base.digest, 'RejectedByUser', 'rejected by ada: breaks the login']],
    );
    const held = status.conditions?.find(({ type }) => type === 'Held');
    assert.deepEqual([readyOf(status)?.status, readyOf(status)?.reason, held?.status], ['True', 'RejectedByUser', 'True']);
    assert.match(held?.message ?? '', /^21\.0\.7 was rejected by ada: breaks the login: .*release.*; 1 of 1 images are behind/);
    const again = next(status, found([imageOf('a', 'Behind')]), annotations);
    assert.deepEqual([again.rejected, again.conditions], [rejected, status.conditions]);
    const released = next(status, found([imageOf('a', 'Behind')]), {
      ...annotations,
      'operator.technomad.dev/release': at.toISOString(),
    });
    assert.deepEqual([released.rejected, released.conditions?.map(({ type }) => type)], [undefined, ['Ready']]);
  });

  it('counts the images behind for which somebody must act, and those that are only reported', () => {
    const states: Readonly<Record<string, ImageState>> = {
      a: { state: 'Refused', action: 'rebase', reason: 'UserChanged' },
      b: { state: 'Failed', action: 'rebase' },
      c: { state: 'RebuildOverdue', action: 'trigger' },
      d: { state: 'Behind', action: 'report' },
      e: { state: 'Behind', action: 'rebase', reason: 'Retrying' },
      f: { state: 'Rebased', action: 'rebase' },
    };
    const images = Object.keys(states).map((name) => imageOf(name, 'Behind'));
    const stateOf: Findings['stateOf'] = ({ source }) => states[source.path.slice('shop/'.length)];
    const { behind, refused, overdue, reported } = next({}, found(images, { stateOf })).images ?? {};
    assert.deepEqual({ behind, refused, overdue, reported }, { behind: 6, refused: 3, overdue: 1, reported: 1 });
  });

  it('says what to add to the configuration where images may not be pushed, also while none is behind', () => {
    const repositoriesOf = (registry: string, ...names: string[]) => names.map((name) => ({ registry, path: `shop/${name}` }));
    const one = next({}, found([imageOf('a', 'Current')], { unpermitted: repositoriesOf('harbor.example.com', 'a') }));
    assert.equal(
      readyOf(one)?.message,
      'no image is behind 21.0.7 (of 1); the images of 1 repository are not rebased, because nothing permits to push them: add {policiesFrom: platform, push: [harbor.example.com/shop/a]} to consents in the configuration of image-watcher, or name a pushSecret in the action',
    );
    const names = Array.from({ length: 12 }, (_, index) => `a${index + 10}`);
    const many = next(
      {},
      found([imageOf('a10', 'Behind')], {
        unpermitted: [...repositoriesOf('harbor.example.com', ...names), ...repositoriesOf('other.example.com', 'b')],
      }),
    );
    assert.match(
      readyOf(many)?.message ?? '',
      /the images of 13 repositories .*: add \{policiesFrom: platform, push: \[harbor\.example\.com\/shop\/a10, .*\/a19\]\} and 3 more, or patterns with "\*", to consents/,
    );
  });

  it('is UpToDate only if every image was compared with every version', () => {
    const shown = (images: readonly ExaminedImage[], versions: Partial<Findings['versions']> = {}) => {
      const status = next({}, found(images, { versions: { known: 2, unread: 0, isBeingRead: false, ...versions } }));
      return [readyOf(status)?.status, readyOf(status)?.reason, readyOf(status)?.message];
    };
    const current = imageOf('a', 'Current');
    assert.deepEqual(shown([current]), ['True', 'UpToDate', 'no image is behind 21.0.7 (of 1)']);
    assert.deepEqual(shown([current, imageOf('b', 'OtherLine')]), [
      'True',
      'UpToDate',
      'no image is behind 21.0.7 (of 2); 1 is built on a version of another line, which spec.from may name',
    ]);
    assert.deepEqual(shown([current, imageOf('b', 'Unknown')]), [
      'True',
      'ImagesUnknown',
      'no image is known to be behind 21.0.7 (of 2); of 1 the base is not known, such as harbor.example.com/shop/b:1.2.3: its layers were squashed: let the build name its base or build the image anew, if status.dependents says nothing else',
    ]);
    const [, , message = ''] = shown([imageOf('d', 'Unknown'), current, imageOf('c', 'Unknown')], { unread: 1 });
    assert.match(
      message,
      /; 1 tags of the base are not compared, .*; of 2 the base is not known, such as harbor\.example\.com\/shop\/c:1\.2\.3: /,
    );
    assert.deepEqual(shown([current], { unread: 3, fault: '20: the registry answers 500' }), [
      'True',
      'ImagesUnknown',
      'no image is known to be behind 21.0.7 (of 1); 3 tags of the base are not compared: 20: the registry answers 500',
    ]);
    assert.deepEqual(shown([current], { hidden: { count: 2, example: '21.0.5' } }), [
      'True',
      'ImagesUnknown',
      'no image is known to be behind 21.0.7 (of 1); 2 versions of the base, such as 21.0.5, are not compared, because their configurations do not show their layers: push them anew, and let the builds on them name their base',
    ]);
    assert.deepEqual(shown([current], { unread: 900, isBeingRead: true }), [
      'False',
      'Progressing',
      'no image is known to be behind 21.0.7 (of 1); 900 tags of the base are not compared yet: they are being read',
    ]);
  });

  it('says that images are being examined when a new base was selected, and counts none before', () => {
    const before = next({}, found([imageOf('a', 'Current')]));
    const status = whileExamining(policyOf(before), { tag: '21.0.8', digest: digestOf('c') }, at);
    assert.deepEqual(
      [status.latest?.tag, status.images, readyOf(status)?.status, readyOf(status)?.reason],
      ['21.0.8', undefined, 'False', 'Progressing'],
    );
    assert.deepEqual(
      status.dependents?.map(({ state, message }) => [state, message]),
      [['Unknown', 'it is being compared with 21.0.8']],
    );
  });

  it('keeps since when an image is behind, over newer bases', () => {
    const first = next({}, found([imageOf('a', 'Behind')]));
    assert.equal(first.behindSince, '2026-11-23T12:00:00Z');
    const later = nextBaseStatus(
      policyOf(first),
      found([imageOf('a', 'Behind')], { base: { tag: '21.0.8', digest: digestOf('c') } }),
      new Date('2026-11-30T12:00:00Z'),
    );
    assert.equal(later.behindSince, '2026-11-23T12:00:00Z');
    assert.deepEqual(
      later.history?.map(({ tag }) => tag),
      ['21.0.8', '21.0.7'],
    );
    const current = nextBaseStatus(policyOf(later), found([imageOf('a', 'Current')]), at);
    assert.deepEqual([current.behindSince, current.dependents?.[0]?.behindSince], [undefined, undefined]);
  });

  it('lists twenty images, those that are behind first', () => {
    const many = Array.from({ length: 30 }, (_, index) => imageOf(`a${index}`, 'Current'));
    const { dependents = [], images } = next({}, found([...many, imageOf('z', 'Behind')]));
    assert.deepEqual([dependents.length, dependents[0]?.image, images?.total], [20, 'harbor.example.com/shop/z:1.2.3', 31]);
  });

  it('is not Ready while a rollout is under way, and Stalled when its base is rejected', () => {
    const waves = { base: base.digest, pending: 2, progressing: 1, done: 1, failed: 0 };
    const rolling = next({}, found([imageOf('a', 'Behind')], { acted: { waves } }));
    assert.deepEqual(
      [readyOf(rolling)?.reason, readyOf(rolling)?.message.split(';')[0]],
      ['Progressing', 'rolling out 21.0.7: 1 of 4 workloads'],
    );
    const rejected = [{ ...base, at: '2026-11-23T11:59:00Z', message: 'Deployment shop/a: it crashes' }];
    const stalled = next({}, found([imageOf('a', 'Behind')], { acted: { rejected } }));
    assert.deepEqual(
      stalled.conditions?.map(({ type, status, reason }) => [type, status, reason]),
      [
        ['Ready', 'False', 'BaseRejected'],
        ['Stalled', 'True', 'BaseRejected'],
      ],
    );
    assert.equal(stalled.history?.[0]?.result, 'Rejected');
    const released = next(stalled, found([imageOf('a', 'Behind')]), { 'operator.technomad.dev/release': '2026-11-23T12:00:00Z' });
    assert.deepEqual([released.rejected, readyOf(released)?.status, released.history?.[0]?.result], [undefined, 'True', 'Selected']);
  });

  it('remembers how many rebuilds were requested, also when their images have come', () => {
    const requested = next({}, found([imageOf('a', 'Behind')], { acted: { requested: 12 } }));
    const done = next(requested, found([imageOf('a', 'Current')]));
    assert.deepEqual([done.history?.[0]?.requested, done.requests], [12, undefined]);
  });

  it('leaves conditions of others, and fields of a later version, as they are', () => {
    const others = { type: 'Audited', status: 'True' as const, reason: 'ByHand', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const status = next({ conditions: [others] }, found([]));
    assert.deepEqual(status.conditions?.at(-1), others);
  });
});

it('a problem of a policy of a base leaves the counts and dependents in its status', () => {
  const before = next({}, found([imageOf('a', 'Behind')]));
  const after = withProblem(policyOf(before), { reason: 'RegistryUnavailable', message: 'no answer', isRetried: true }, at);
  assert.deepEqual([after.images, after.dependents, readyOf(after)?.reason], [before.images, before.dependents, 'RegistryUnavailable']);
  assert.deepEqual(
    after.conditions?.map(({ type }) => type),
    ['Ready', 'Reconciling'],
  );
});

it('a suspended policy of a base is Ready with the reason Suspended', () => {
  assert.deepEqual(
    [readyOf(whileSuspended(policyOf(), at))?.status, readyOf(whileSuspended(policyOf(), at))?.reason],
    ['True', 'Suspended'],
  );
});
