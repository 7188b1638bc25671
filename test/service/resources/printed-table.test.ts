/** What `kubectl get` prints of policies: the tables of a real API server, laid out as kubectl does. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as v1 from '../../../src/service/resources/v1.ts';
import * as v1alpha1 from '../../../src/conversion/v1alpha1.ts';
import { convertObject } from '../../../src/conversion/convert.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { installCrd, policiesPath } from './install-crd.ts';

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly (string | null)[] }[];
}

const image = 'harbor.example.com/platform/checkout-service';
const spec = { image, select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'checkout', namespace: 'default' }] };
const message = 'checkout runs 1.24.10; '.repeat(20).trim();

function statusWith(reason: string): PolicyStatus {
  const condition = { status: 'False', reason, message, lastTransitionTime: '2026-03-01T12:00:00Z' } as const;
  return {
    conditions: [
      { ...condition, type: 'Ready' },
      { ...condition, type: 'Stalled', status: 'True' },
    ],
    latest: { tag: '1.25.0', selectedAt: '2026-03-01T12:00:00Z' },
    running: '1.24.10,+2',
  };
}

const policies = [
  { name: 'checkout', status: statusWith('ApprovalRequired') },
  { name: 'checkout-worker', status: statusWith('RegistryUnavailable') },
  { name: 'new' },
];

/** The lines that kubectl prints: its columns are as wide as their longest cell, and three apart. */
function linesOf({ columnDefinitions, rows }: Table, isWide = false): string[] {
  const shown = columnDefinitions.flatMap(({ priority }, index) => (priority === 0 || isWide ? [index] : []));
  const lines = [columnDefinitions.map(({ name }) => name.toUpperCase()), ...rows.map(({ cells }) => cells.map((cell) => cell ?? ''))];
  const widths = shown.map((column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines.map((cells) =>
    shown
      .map((column, index) => (cells[column] ?? '').padEnd(widths[index] ?? 0))
      .join('   ')
      .trimEnd(),
  );
}

for (const { version, apiVersion } of [v1, v1alpha1]) {
  describe(`kubectl get, ${version}`, () => {
    let cluster: ControlPlane;
    let table: Table;
    before(async () => {
      cluster = await borrowControlPlane();
      await installCrd(cluster, [version === 'v1' ? 'v1' : 'v1alpha1']);
      const path = policiesPath('default', version);
      for (const { name, status } of policies) {
        const policy = { apiVersion: v1.apiVersion, kind: 'ImagePolicy', metadata: { name, namespace: 'default' }, spec, status };
        const written = convertObject(policy, apiVersion) as { status?: object };
        await cluster.request('POST', path, written);
        if (status !== undefined) await cluster.request('PATCH', `${path}/${name}/status`, { status: written.status });
      }
      table = await cluster.request<Table>('GET', path, undefined, undefined, 'application/json;as=Table;v=v1;g=meta.k8s.io');
    });
    after(() => cluster.stop());

    test('shows one word in each column', () => {
      assert.deepEqual(
        linesOf(table).map((line) => line.split(/ {3,}/).map((cell) => cell.replace(/^\d+s$/, 'AGE'))),
        [
          ['NAME', 'IMAGE', 'RUNNING', 'LATEST', 'READY', 'REASON', 'AGE'],
          ['checkout', image, '1.24.10,+2', '1.25.0', 'False', 'ApprovalRequired', 'AGE'],
          ['checkout-worker', image, '1.24.10,+2', '1.25.0', 'False', 'RegistryUnavailable', 'AGE'],
          ['new', image, 'AGE'],
        ],
      );
    });

    test('fits into 120 characters, even with a long name', () => {
      for (const line of linesOf(table)) assert.ok(line.length <= 120, `${line.length}: ${line}`);
    });

    test('shows the message only with -o wide', () => {
      assert.ok(!linesOf(table).some((line) => line.includes(message)));
      const [header = '', first = ''] = linesOf(table, true);
      assert.match(header, / MESSAGE$/);
      assert.ok(first.endsWith(message));
    });
  });
}
