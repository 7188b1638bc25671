/** docs/tutorial.md: every command of the page, in its order, against real servers, and what it prints. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startTutorialWorld, type TutorialWorld } from '../demo/tutorial-world.ts';
import { lacksKubectl } from '../harness/binaries.ts';
import { findOnPath } from '../harness/run-command.ts';
import { waitFor } from '../harness/wait-for.ts';
import { consoleStepsOf, withOutputs } from './console.ts';
import { root } from './markdown.ts';

const page = readFileSync(join(root, 'docs/tutorial.md'), 'utf8');
const missing = findOnPath(['bash']) === undefined ? 'needs bash' : ((await lacksKubectl()) ?? false);

/** Without what differs each time: times, ids, names of pods, and how long something was waited for. */
function normalise(output: string): string {
  return output
    .replaceAll(/^Waiting for .*\n/gm, '')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b\d+ ms\b/g, 'N ms')
    .replaceAll(/\bweb-[a-z0-9]{6,10}-[a-z0-9]{5}\b/g, 'POD')
    .replaceAll(/(?<= {2}registry {2})[0-9a-f]{8,64}$/gm, 'ID');
}

/** Commands that only read: what they show may be reported a little later. */
const reads = /^(?:kubectl [^|]*\bget\b|image-watcher (?:events|explain)\b)/;

describe('docs/tutorial.md', { skip: missing }, () => {
  let world: TutorialWorld;
  let hasFailed = false;
  before(async () => {
    world = await startTutorialWorld();
  });
  after(() => world.stop());

  const steps = consoleStepsOf(page);
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

  test('the page has a whole story', () => {
    assert.ok(steps.length > 20, String(steps.length));
    for (const word of ['lint', '--broken', 'condition=Stalled', 'RejectedDigest', 'events'])
      assert.ok(
        steps.some(({ command }) => command.includes(word)),
        word,
      );
  });
});

test('a session is read with its outputs, and written with others', () => {
  const text = 'a\n```console\n$ one\n1\n2\n$ cat <<X\n> y\n> X\n$ three\n```\nb\n```console\n$ four\n4\n```\n';
  assert.deepEqual(consoleStepsOf(text), [
    { command: 'one', output: '1\n2\n' },
    { command: 'cat <<X\ny\nX', output: '' },
    { command: 'three', output: '' },
    { command: 'four', output: '4\n' },
  ]);
  assert.equal(withOutputs(text, ['1\n2\n', '', '', '4\n']), text);
  assert.equal(withOutputs('```console\n$ one\n1\n```\n', ['5\n']), '```console\n$ one\n5\n```\n');
});
