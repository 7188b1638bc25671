/** Wrong usage of the commands that act on a policy; what they do is shown by end-to-end/guards.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../src/cli/command.ts';
import { runCommand } from './run-command.ts';

const rows: [command: string, args: string[], message: RegExp][] = [
  ...['explain', 'check', 'approve', 'rollback', 'suspend', 'resume', 'release'].flatMap((command): typeof rows => [
    [command, [], /name the policy: NAMESPACE\/NAME$/],
    [command, ['web'], /NAMESPACE\/NAME, not "web"/],
    [command, ['a/b/c'], /NAMESPACE\/NAME, not "a\/b\/c"/],
    [command, ['shop/web', '--output', 'xml'], /--output is text or json/],
    [command, ['shop/web', '--dance'], /--dance/],
  ]),
  ['suspend', ['shop/web', 'shop/api'], /not "shop\/web shop\/api"/],
  ['approve', ['shop/web', '1.2.3', '1.2.4'], /name the policy/],
  ['check', ['shop/web', '--timeout', 'soon'], /--timeout is a duration/],
  ['rollback', ['shop/web', '--timeout', '1'], /--timeout is a duration/],
  ['rollback', ['shop/web', '--to', 'not/a/tag'], /--to is a tag/],
  ['rollback', ['shop/web', '--to', '1.2.3 again'], /--to is a tag/],
  ['explain', ['shop/web', '--push', 'harbor.example.com/shop/web'], /--push is an image with a tag/],
];

for (const [command, args, message] of rows) {
  test(`wrong usage: ${command} ${args.join(' ')}`, async () => {
    await assert.rejects(
      async () => runCommand(command, args),
      (error) => error instanceof UsageError && message.test(error.message),
    );
  });
}

test('a cluster that cannot be reached is told, with exit code 1', async () => {
  const { code, err, out } = await runCommand('suspend', ['shop/web', '--kubeconfig', '/does/not/exist']);
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /exist/);
  assert.doesNotMatch(err, /\n\s+at /);
});
