/** When which notice about an image is due for the team of its workloads. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ImageState } from '../../../src/bases/policies/act.ts';
import type { ExaminedImage } from '../../../src/bases/policies/examine-images.ts';
import { type DueNotice, imageNotices, keysOf, unreported } from '../../../src/bases/policies/image-notices.ts';
import type { Findings } from '../../../src/bases/policies/next-base-status.ts';
import { base, policyWith } from './acting.ts';

const at = '2026-11-23T12:00:00.000Z';
const policy = policyWith({});

function imageOf(name: string, namespaces: readonly string[] = ['shop'], more: Partial<ExaminedImage['image']> = {}): ExaminedImage {
  const source = { registry: 'harbor.example.com', path: `shop/${name}` };
  const workloads = namespaces.map((namespace) => ({
    workload: { kind: 'Deployment', namespace, name },
    containers: ['app'],
    hasInitContainers: false,
  }));
  const recognition = {
    kind: 'recognized',
    by: 'Layers',
    base: { repository: 'harbor.example.com/library/base-java', tags: ['21.0.5'], digest: `sha256:${'0'.repeat(64)}` },
  } as const;
  return {
    image: { repository: source, tag: '1.2.3', digest: undefined, workloads, ...more },
    source,
    digest: `sha256:${'1'.repeat(64)}`,
    state: 'Behind',
    recognition,
  };
}

const dueOf = (state: ImageState | undefined, image = imageOf('web'), newBase = base, replacements: Findings['replacements'] = []) =>
  imageNotices(
    policy,
    {
      base: newBase,
      images: [image],
      versions: { known: 1, unread: 0, isBeingRead: false },
      stateOf: (examined) => (examined === image ? state : undefined),
      replacements,
      unpermitted: [],
      acted: {},
      checkedAt: 0,
    },
    at,
  );
const kinds = (due: readonly DueNotice[]) => due.map(({ identified: { notice } }) => [notice.kind, notice.subject.namespace].join(' '));

/** Reports what is due in one state after the other, as a service does that remembers only what it has reported. */
function reportAll(...states: readonly ImageState[]): string[] {
  const reported = new Set<string>();
  return states.flatMap((state) => {
    const news = unreported(dueOf(state), reported);
    for (const { key, covers } of news) for (const one of [key, ...covers]) reported.add(one);
    return news.map(({ identified: { notice } }) => notice.kind);
  });
}

const rebase = { action: 'rebase', rebased: '1.2.3-base.20261123' } as const;

describe('notices about images on a base', () => {
  const rows: Readonly<Record<string, readonly [ImageState | undefined, readonly string[]]>> = {
    'it is behind': [{ state: 'Behind', action: 'report' }, ['Behind shop']],
    'it is behind and waits for its window': [{ state: 'Behind', action: 'restart', reason: 'Window' }, ['Behind shop']],
    'it is rebased and waits for its wave': [{ state: 'Rebased', ...rebase }, ['Rebased shop']],
    'it is rebased and rolling out': [{ state: 'Updating', ...rebase }, ['Rebased shop']],
    'its rebased image is out, which follows from the rollouts': [{ state: 'Updated', ...rebase }, []],
    'its rollout failed, which its ImagePolicy reports': [{ state: 'Failed', ...rebase, reason: 'RolloutFailed' }, []],
    'it is not rebased': [{ state: 'Refused', action: 'rebase', reason: 'UserChanged', message: 'root' }, ['Refused shop']],
    'its base is rejected': [{ state: 'Refused', action: 'rebase', reason: 'BaseRejected' }, []],
    'its rebuild is requested': [{ state: 'Requested', action: 'trigger' }, ['RebuildRequested shop']],
    'its rebuild is refused': [{ state: 'Failed', action: 'trigger', reason: 'RebuildRefused' }, ['Refused shop']],
    'its rebuild does not come': [{ state: 'RebuildOverdue', action: 'trigger', reason: 'RebuildOverdue' }, ['Refused shop']],
    'its workloads restart': [{ state: 'Updating', action: 'restart' }, []],
    'its workloads have restarted': [{ state: 'Updated', action: 'restart' }, ['RolledOut shop']],
    'its restart failed': [{ state: 'Failed', action: 'restart', reason: 'RolloutFailed' }, ['RolloutFailed shop']],
    'it is current': [undefined, []],
  };
  for (const [name, [state, expected]] of Object.entries(rows)) it(name, () => assert.deepEqual(kinds(dueOf(state)), expected));

  it('are sent one for each namespace, with the workloads of that namespace only', () => {
    const due = dueOf({ state: 'Behind', action: 'report' }, imageOf('web', ['shop', 'finance', 'shop']));
    assert.deepEqual(kinds(due), ['Behind shop', 'Behind finance']);
    assert.deepEqual(
      due.map(({ identified: { notice } }) => notice.workloads),
      [['Deployment shop/web', 'Deployment shop/web'], ['Deployment finance/web']],
    );
    const failed = dueOf({ state: 'Failed', action: 'restart', reason: 'RolloutFailed' }, imageOf('web', ['shop', 'finance']));
    assert.deepEqual(kinds(failed), [], 'it is not known whose rollout failed');
    assert.deepEqual(kinds(dueOf({ state: 'Behind' }, imageOf('framework', []))), [], 'nobody runs a base in between');
  });

  it('have the reason and the next step, and no message that may name others', () => {
    const refused = (reason: string) =>
      dueOf({ state: 'Refused', action: 'rebase', reason, message: 'why' })[0]?.identified.notice ?? assert.fail();
    const { message, reason, nextStep } = refused('UserChanged');
    assert.deepEqual([message, reason], ['why', 'UserChanged']);
    assert.match(nextStep ?? '', /^rebuild the image, or name the rule/);
    for (const one of ['PushSecretUnusable', 'PushNotPermitted', 'SigningKeyUnusable', 'Forbidden'])
      assert.deepEqual([refused(one).message, refused(one).reason], [undefined, one]);
    const between = dueOf({ state: 'Behind', reason: 'BaseBetween', message: 'BaseImagePolicy platform/framework brings it forward' });
    assert.equal(between[0]?.identified.notice.message, undefined);
  });

  it('are reported once for each version of the base', () => {
    const behind = { state: 'Behind', action: 'rebase', reason: 'WavePending' } as const;
    assert.deepEqual(reportAll(behind, behind, { ...behind, reason: 'Retrying' }), ['Behind']);
    assert.deepEqual(reportAll(behind, { state: 'Rebased', ...rebase }, { state: 'Updating', ...rebase }, behind), ['Behind', 'Rebased']);
    assert.deepEqual(reportAll({ state: 'Updating', ...rebase }, behind), ['Rebased'], 'a rebase implies that it was behind');
    const refused = { state: 'Refused', action: 'rebase', reason: 'UserChanged' } as const;
    assert.deepEqual(reportAll(refused, { ...refused, message: 'other words' }), ['Refused']);
    assert.deepEqual(reportAll(refused, { ...refused, reason: 'AbiChanged' }), ['Refused', 'Refused'], 'another reason is news');
    const other = { tag: '21.0.7', digest: `sha256:${'c'.repeat(64)}` };
    const identities = [base, other].map((one) => dueOf(behind, imageOf('web'), one)[0]?.identified.identity.join());
    assert.notEqual(identities[0], identities[1]);
  });

  it('report the end of a restart only where its beginning was reported', () => {
    const updated = { state: 'Updated', action: 'restart' } as const;
    assert.deepEqual(reportAll(updated), []);
    assert.deepEqual(reportAll({ state: 'Behind', action: 'restart' }, updated, updated), ['Behind', 'RolledOut']);
    assert.equal(keysOf(dueOf(updated)).length, 2);
  });

  it('report a rebased image as rolled out in a namespace when all of its workloads there have it', () => {
    const replacementOf = (namespace: string, name: string, isDone: boolean) => ({
      isDone,
      replacement: {
        workload: { kind: 'Deployment', namespace, name },
        containers: ['app'],
        hasInitContainers: false,
        repository: 'harbor.example.com/shop/web',
        from: '1.2.3',
        to: rebase.rebased,
        isPinned: false,
      },
    });
    const rollouts = (isOut: boolean) => [
      replacementOf('shop', 'web', true),
      replacementOf('shop', 'admin', isOut),
      replacementOf('finance', 'web', false),
    ];
    assert.deepEqual(kinds(dueOf(undefined, imageOf('web'), base, rollouts(false))), []);
    const [out, ...others] = dueOf(undefined, imageOf('web'), base, rollouts(true));
    assert.deepEqual([out?.identified.notice.kind, others], ['RolledOut', []]);
    const { tag, workloads, subject } = out?.identified.notice ?? assert.fail();
    assert.deepEqual([tag, workloads], [rebase.rebased, ['Deployment shop/admin', 'Deployment shop/web']]);
    assert.deepEqual([subject.namespace, subject.name], ['shop', 'harbor.example.com/shop/web:1.2.3']);
    const pinned = imageOf('web', ['shop'], { digest: `sha256:${'1'.repeat(64)}` });
    const [begun] = dueOf({ state: 'Updating', ...rebase }, pinned);
    assert.ok(begun?.covers.includes(out?.after ?? ''), 'the rebase is its beginning, also of an image that is named by its digest');
  });

  it('name at most twenty workloads', () => {
    const [due] = dueOf({ state: 'Behind' }, imageOf('web', Array<string>(25).fill('shop')));
    assert.deepEqual([due?.identified.notice.workloads?.length, due?.identified.notice.hasMore], [20, true]);
  });
});
