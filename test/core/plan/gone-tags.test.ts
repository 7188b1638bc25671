import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goneContainers, markGoneTags } from '../../../src/core/plan/running-images.ts';
import { planUpdate } from '../../../src/core/plan/plan-update.ts';
import { allKnown, appliedOnce, digestOf, noAliases, specOf, workloadOf } from '../model/samples.ts';

const image = 'registry.example.com/shop/web';

/** What is said of a container that runs this, when 1.2.3 is the highest of these tags. */
function goneTagsOf(running: string, tags: readonly string[] = ['1.2.3'], allowDowngrade = false) {
  const plan = planUpdate({
    spec: specOf({ allowDowngrade }),
    candidate: { tag: '1.2.3' },
    hasApplied: appliedOnce('1.2.3').length > 0,
    aliases: noAliases,
    ...allKnown,
    findWorkload: () => workloadOf({ web: running }),
  });
  const planWithGoneTags = markGoneTags(plan, new Set(tags), noAliases);
  return [planWithGoneTags.targets[0]?.unchanged[0]?.reason ?? 'changed', goneContainers(planWithGoneTags).length];
}

for (const [name, running, expected, tags] of [
  ['a newer tag that is gone', `${image}:1.3.0`, ['TagGone', 1]],
  ['the same with its digest', `${image}:1.3.0@${digestOf('a')}`, ['TagGone', 1]],
  ['a newer tag outside of the range that is there', `${image}:2.0.0`, ['OlderThanRunning', 0], ['1.2.3', '2.0.0']],
  ['the candidate', `${image}:1.2.3`, ['UpToDate', 0]],
  ['what cannot be compared', `${image}:main`, ['NotComparable', 0]],
  ['an older tag that is gone: it is replaced', `${image}:1.0.0`, ['changed', 0]],
] as const) {
  test(`a workload that runs ${name} is reported as ${expected[0]}`, () => assert.deepEqual(goneTagsOf(running, tags), expected));
}

test('a policy with allowDowngrade replaces a running tag that was deleted with an older one', () =>
  assert.deepEqual(goneTagsOf(`${image}:1.3.0`, ['1.2.3'], true), ['changed', 0]));
