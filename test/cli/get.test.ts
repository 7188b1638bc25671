/** get and diff against a real API server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { parse } from 'yaml';
import { waitFor } from '../harness/wait-for.ts';
import { printable } from '../../src/service/command-line/printable.ts';
import { policiesPath } from '../service/resources/install-crd.ts';
import { at, condition, createPolicies, startCliWorld, statusOf, type CliWorld } from './cluster-world.ts';
import { runCommand } from './run-command.ts';

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly (string | null)[] }[];
}

/** The cells of a printed table, its heading first, without the lines below the rows, and with AGE in place of each age. */
function cellsOf(out: string): string[][] {
  const lines = out.split('\n').filter((line) => /^\S/.test(line));
  const starts = [...(lines[0] ?? '').matchAll(/\S+/g)].map(({ index }) => index);
  const age = starts.findIndex((start) => lines[0]?.startsWith('AGE', start));
  return lines.map((line) => starts.map((start, column) => (column === age ? 'AGE' : line.slice(start, starts[column + 1]).trim())));
}

describe('commands about policies:', () => {
  let world: CliWorld;
  before(async () => {
    world = await startCliWorld();
    await createPolicies(world);
  });
  after(() => world.stop());

  const run = (command: string, args: readonly string[]) => runCommand(command, [...args, '--kubeconfig', world.kubeconfig]);

  it('explain says what a policy without status may wait for', async () => {
    const { code, out } = await run('explain', ['api']);
    assert.equal(code, 1);
    assert.match(out, /^the policy is not reconciled yet: .*image-watcher doctor.*check --server URL.*is repeated$/m);
  });

  describe('get', () => {
    it('shows a row for each policy, and below it why it is blocked, without control characters', async () => {
      const { code, out, err } = await runCommand('get', ['--kubeconfig', world.kubeconfig], { interactive: true, columns: 30 });
      assert.equal(code, 0);
      assert.deepEqual(out.replaceAll(/ \d+[smhd]$/gm, ' AGE').split('\n'), [
        'NAME  IMAGE                         RUNNING  LATEST  READY  REASON    AGE',
        'api   harbor.example.com/shop/api   -        -       -      -         AGE',
        '  not reconciled yet: no',
        '  worker runs (image-watcher',
        '  doctor), its namespace is',
        '  not selected (image-watcher',
        '  check --server URL), or its',
        '  first attempt failed and is',
        '  repeated',
        'held  harbor.example.com/shop/held  1.3.0    1.4.0   True   Held      AGE',
        '  kubectl changed \\u{1b}[31mc0',
        'web   harbor.example.com/shop/web   1.4.0    1.4.0   True   UpToDate  AGE',
        '',
      ]);
      assert.equal(err, '3 policies, 2 of them not in order\n');
    });

    it('shows the policies with a label', async () => {
      const labelled = { metadata: { labels: { team: 'shop' } } };
      await world.cluster.request('PATCH', `${policiesPath(world.namespace, 'v1')}/web`, labelled);
      const { out } = await run('get', ['-l', 'team=shop', '-o', 'name']);
      assert.match(out, /^\S+\/web\n$/);
      const { err } = await run('get', ['-l', 'team=other']);
      assert.match(err, /^there are no policies/);
      await assert.rejects(async () => run('get', ['web', '-l', 'team=shop']), /--label goes without the names/);
    });

    it('shows the columns and cells of kubectl get', async () => {
      const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
      const path = policiesPath(world.namespace, 'v1');
      const { columnDefinitions, rows } = await world.cluster.request<Table>('GET', path, undefined, undefined, accept);
      for (const [output, longest] of [
        ['text', 0],
        ['wide', 1],
      ] as const) {
        const shown = columnDefinitions.flatMap(({ name, priority }, index) => (priority <= longest ? [{ name, index }] : []));
        const cells = rows.map((row) => shown.map(({ name, index }) => (name === 'Age' ? 'AGE' : printable(row.cells[index] || '-'))));
        const { out } = await run('get', ['-o', output]);
        assert.deepEqual(cellsOf(out), [shown.map(({ name }) => name.toUpperCase()), ...cells]);
      }
    });

    it('-A shows namespaces, -o wide images and messages', async () => {
      const { out } = await run('get', ['-A', '-o', 'wide']);
      const [head, ...lines] = out.split('\n');
      const held = lines.find((line) => / held /.test(line));
      assert.match(head ?? '', /^NAMESPACE +NAME +IMAGE .* MESSAGE$/);
      assert.match(held ?? '', new RegExp(`^${world.namespace} +held +harbor\\.example\\.com/shop/held +1\\.3\\.0 .* kubectl changed`));
      assert.match(out, /^ {2}not reconciled yet/m);
      assert.doesNotMatch(out, /^ {2}kubectl changed/m);
    });

    it('-o name, json and yaml are for programs', async () => {
      assert.equal((await run('get', ['-o', 'name'])).out.split('\n')[0], 'imagepolicy.operator.technomad.dev/api');
      const list = JSON.parse((await run('get', ['-o', 'json'])).out) as { kind: string; items: { metadata: object }[] };
      assert.deepEqual([list.kind, list.items.length, 'managedFields' in (list.items[0]?.metadata ?? {})], ['List', 3, false]);
      const policy = parse((await run('get', ['web', '-o', 'yaml'])).out) as { kind: string; metadata: { name: string } };
      assert.deepEqual([policy.kind, policy.metadata.name], ['ImagePolicy', 'web']);
    });

    it('shows the other policies if one name does not exist', async () => {
      const { code, out, err } = await run('get', ['web', 'wbe']);
      assert.equal(code, 1);
      assert.match(out, /^web +\S+\/web +1\.4\.0/m);
      assert.match(err, /did you mean "web"/);
    });

    it('uses colours on a terminal, unless they are disabled', async () => {
      const args = ['get', ['--kubeconfig', world.kubeconfig]] as const;
      const plain = (await runCommand(...args)).out;
      const coloured = await runCommand(...args, { hasColours: true });
      assert.ok(coloured.out.includes('\u001B[33mheld'), JSON.stringify(coloured.out));
      assert.equal(stripVTControlCharacters(coloured.out).split('\n')[0], plain.split('\n')[0]);
      const never = await runCommand('get', [...args[1], '--color', 'never'], { hasColours: true });
      assert.ok(!never.out.includes('\u001B'));
      assert.ok((await runCommand('get', [...args[1], '--color=always'])).out.includes('\u001B[33mheld'));
    });

    it('--watch shows every change, until it is interrupted', async () => {
      await world.create('watched');
      const stopping = new AbortController();
      let text = '';
      const watching = runCommand('get', ['watched', '--watch', '--kubeconfig', world.kubeconfig], {
        signal: stopping.signal,
        onText: (more) => (text += more),
      });
      await waitFor('the row', () => text.includes('watched'));
      await world.report('web', statusOf(world, 'web', { runs: '1.4.0', latest: '1.4.0' }, condition('Ready', 'True', 'RolledOut')));
      const tags = { runs: '2.0.0', latest: '2.0.1' };
      await world.report('watched', statusOf(world, 'watched', tags, condition('Ready', 'False', 'NotSigned', 'no signature')));
      await waitFor('the change', () => text.includes('no signature'));
      await world.cluster.request('DELETE', world.pathOf('watched'));
      await waitFor('the deletion', () => text.includes('(deleted)'));
      stopping.abort();
      const { code, out } = await watching;
      assert.equal(code, 0);
      assert.match(out, /^watched +\S+ +2\.0\.0 +2\.0\.1 +False +NotSigned +\d+s\n {2}no signature\nwatched +\S+ +2\.0\.0 .*\(deleted\)/m);
      assert.doesNotMatch(out, /web/);
    });
  });

  describe('diff', () => {
    before(async () => {
      await world.create('old');
      await world.deploy('old', 'harbor.example.com/shop/old:1.3.0');
      await world.report('old', { latest: { tag: '1.4.0', selectedAt: at } });
    });
    after(() => world.cluster.request('DELETE', world.pathOf('old')));

    it('shows what would change, and ends with 1', async () => {
      const { code, out, err } = await run('diff', ['old']);
      const where = `Deployment ${world.namespace}/old`;
      assert.deepEqual(
        [code, out, err],
        [
          1,
          `--- ${where}\n+++ ${where} (policy ${world.namespace}/old)\n@@ c0 @@\n-harbor.example.com/shop/old:1.3.0\n+harbor.example.com/shop/old:1.4.0\n`,
          '',
        ],
      );
      const [change] = JSON.parse((await run('diff', ['old', '-o', 'json'])).out) as { to: string }[];
      assert.equal(change?.to, 'harbor.example.com/shop/old:1.4.0');
    });

    it('says which images stay and why, and ends with 0 if nothing would change', async () => {
      await world.cluster.request('PATCH', world.pathOf('old'), { spec: { update: { mode: 'DryRun' } } });
      const { code, out } = await run('diff', ['old']);
      assert.equal(code, 0);
      assert.match(out, /^# Deployment \S+\/old c0 stays at harbor\.example\.com\/shop\/old:1\.3\.0: DryRun: .*\n$/);
      const explained = await run('explain', ['old']);
      assert.match(explained.out, /dry-run +DryRun: [^]*\nsomething is in the way\nsee https:\/\/\S+\/reasons\.md#dryrun\n$/);
    });

    it('compares all policies of a namespace', async () => {
      const { code, out } = await run('diff', []);
      assert.equal(code, 0);
      assert.match(out, /^# policy \S+\/api: the policy is not reconciled yet/m);
      assert.match(out, /old c0 stays/);
    });
  });
});
