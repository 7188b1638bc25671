/** Wrong usage of the commands that act on a policy; what they do is shown by end-to-end/guards.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../src/service/command-line/command.ts';
import { runCommand } from './run-command.ts';

const rows: [command: string, args: string[], message: RegExp][] = [
  ...['explain', 'check', 'approve', 'reject', 'promote', 'hold', 'rollback', 'suspend', 'resume', 'release'].flatMap(
    (command): typeof rows => [
      [command, [], /^name the policy: NAME, or NAMESPACE\/NAME$/],
      [command, ['a/b/c'], /^a policy is NAME, ipol\/NAME or NAMESPACE\/NAME, not "a\/b\/c"$/],
      [command, ['shop/web', '-n', 'ops'], /^"shop\/web" is in the namespace shop, and --namespace is ops: name one of them$/],
      [command, ['shop/web', '--output', 'xml'], /^--output is text, json(?:, yaml or name| or yaml), not "xml"/],
      [command, ['shop/web', '--dance'], /^there is no option --dance$/],
      [command, ['shop/web', '--contxt', 'a'], /^there is no option --contxt; did you mean "--context"\?$/],
    ],
  ),
  ['suspend', ['shop/web', 'shop/api'], /^suspend takes POLICY only, and does not know what to do with "shop\/api"$/],
  ['approve', ['shop/web', '1.2.3', '1.2.4'], /^approve takes POLICY and TAG only, .* "1\.2\.4"$/],
  ...['promote', 'hold'].map((command): (typeof rows)[number] => [
    command,
    ['bipol/java'],
    /^"bipol\/java" is a BaseImagePolicy: this command is for ImagePolicies$/,
  ]),
  ['promote', ['shop/web', '1.2.3', '1.2.4'], /^promote takes POLICY and TAG only, .* "1\.2\.4"$/],
  ['rollback', ['bipol/java'], /^"bipol\/java" is a BaseImagePolicy: this command is for ImagePolicies$/],
  ['check', ['shop/web', '--wait=yes'], /^--wait takes no value$/],
  ['get', ['-A', 'web'], /^--all-namespaces goes without the names of policies$/],
  ['get', ['-A', '-n', 'shop'], /^--all-namespaces goes without --namespace$/],
  ['get', ['shop/web', 'ops/web', '--watch'], /^--watch is for the policies of one namespace/],
  ['get', ['-o', 'jsno'], /^--output is .*, not "jsno"; did you mean "json"\?$/],
  ['diff', ['-A', 'web'], /^--all-namespaces goes without the names of policies$/],
  ['events', ['5d2c', '--since', '1h'], /^an id goes without a filter/],
  ['events', ['--since', 'yesterday'], /^--since is a duration such as 90s, 10m or 1h, not "yesterday"$/],
  ['events', ['--limit', '0'], /^--limit is a number from 1 to 500$/],
  ['events', ['--outcome', 'updatd'], /^--outcome is .*, not "updatd"; did you mean "updated"\?$/],
  ['check', ['shop/web', '--timeout', 'soon'], /--timeout is a duration/],
  ['rollback', ['shop/web', '--timeout', '1'], /--timeout is a duration/],
  ['rollback', ['shop/web', '--to', 'not/a/tag'], /--to is a tag/],
  ['rollback', ['shop/web', '--to', '1.2.3 again'], /--to is a tag/],
  ['explain', ['shop/web', '--push', 'harbor.example.com/shop/web'], /--push is an image with a tag/],
];

for (const [command, args, message] of rows) {
  test(`the command "${[command, ...args].join(' ')}" is reported as wrong usage`, async () => {
    await assert.rejects(
      async () => runCommand(command, args),
      (error) => error instanceof UsageError && message.test(error.message),
    );
  });
}
