/** The story that `npm run demo -- base` tells, with all parts real. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Repetition } from '../../src/async/repeat.ts';
import { announce, startWorld, type World } from '../end-to-end/world.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { runJavaPods, tellBaseStory } from './base.ts';

let world: World;
let pods: Repetition;
before(async () => {
  world = await startWorld({ controllers: true, extraRules: shippedRules('work-rebase') });
  await announce(world.registry, await world.start());
  pods = runJavaPods(world);
});
after(async () => {
  await pods.stop();
  await world.stop();
});

test('a patched base reaches every application, and a bad one is stopped at the canary', async () => {
  const notes: string[] = [];
  const done: string[] = [];
  await tellBaseStory(world, {
    heading: () => undefined,
    note: (text) => void notes.push(text),
    async step(what, work) {
      const result = await work();
      done.push(what);
      return result;
    },
  });
  assert.equal(done.at(-1), 'the canary runs its former image again');
  assert.ok(notes.includes('4 images: 3 current, 0 behind, 1 built on something else'), notes.join('\n'));
  assert.match(notes.at(-1) ?? '', /^Deployment .*\/web: pod .*CrashLoopBackOff/);
});
