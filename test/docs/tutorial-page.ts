/** The test of a tutorial: every command of its page, in its order, against real servers, and what it prints. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startTutorialWorld, type Tutorial, tutorials, type TutorialWorld } from '../demo/tutorial-world.ts';
import { lacksKubectl } from '../harness/binaries.ts';
import { findOnPath } from '../harness/run-command.ts';
import { waitFor } from '../harness/wait-for.ts';
import { consoleStepsOf } from './console.ts';
import { root } from './markdown.ts';

const missing = findOnPath(['bash']) === undefined ? 'needs bash' : ((await lacksKubectl()) ?? false);

/** Without what differs each time: times, ids, names of pods, and how long something was waited for. */
function normalise(output: string): string {
  return output
    .replaceAll(/^Waiting for .*\n/gm, '')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b\d+ ms\b/g, 'N ms')
    .replaceAll(/\b\d+d\b */g, 'Nd ')
    .replaceAll(/(?<=\b(?:healthy|runs|waits) for )\d+[smh]\b */g, 'N ')
    .replaceAll(/(?<=\b(?:failed|ran) )\d+[smh] ago\b */g, 'N ago ')
    .replaceAll(/^IMAGE .*$/gm, (line) => line.replaceAll(/ +/g, ' '))
    .replaceAll(/-base\.\d{8}(?:\.\d)?\b/g, '-base.DATE')
    .replaceAll(/\bbase-java-21-[0-9a-f]{16}\b/g, 'CHILD')
    .replaceAll(/\bweb(-staging)?-[a-z0-9]{6,10}-[a-z0-9]{5}\b/g, 'POD')
    .replaceAll(/(?<= {2}registry {2})[0-9a-f]{8,64}$/gm, 'ID');
}

/** Commands that only read: what they show may be reported a little later. */
const reads = /^(?:kubectl [^|]*\bget\b|image-watcher (?:events|explain|bases)\b)/;

/** Declares the test. Some command contains each of the words, so that the page has a whole story. */
export function testTutorial(tutorial: Tutorial, words: readonly string[]): void {
  const { page } = tutorials[tutorial];
  describe(page, { skip: missing }, () => {
    let world: TutorialWorld;
    let hasFailed = false;
    before(async () => {
      world = await startTutorialWorld('shop', undefined, tutorial);
    });
    after(() => world.stop());

    const steps = consoleStepsOf(readFileSync(join(root, page), 'utf8'));
    for (const { command, output } of steps) {
      test(`"${command}" does what the page shows`, async (t) => {
        if (hasFailed) return t.skip('an earlier command has failed');
        hasFailed = true;
        const expected = normalise(output);
        const compare = async () => {
          assert.equal(normalise(await world.run(command)), expected);
          return true;
        };
        if (reads.test(command)) await waitFor('this output', compare);
        else await compare();
        hasFailed = false;
      });
    }

    test('the page has enough steps, with each of the expected commands', () => {
      assert.ok(steps.length > 20, String(steps.length));
      for (const word of words)
        assert.ok(
          steps.some(({ command }) => command.includes(word)),
          word,
        );
    });
  });
}
