/** docs/tutorial.md, as it stands; and how pages with sessions are read and written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleStepsOf, withOutputs } from './console.ts';
import { testTutorial } from './tutorial-page.ts';

testTutorial('push', ['lint', '--broken', 'condition=Stalled', 'RejectedDigest', 'events']);

test('a console session in a page is read with its outputs, and written with new outputs', () => {
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
