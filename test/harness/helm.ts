import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { writeFileSync } from 'node:fs';
import { findHelm } from './binaries.ts';
import { runCommand } from './run-command.ts';
import { tempFolder } from './temp-folder.ts';

/** An object of a manifest. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [key: string]: unknown;
}

export type Values = Readonly<Record<string, unknown>>;

export const chartFolder = join(import.meta.dirname, '../../charts/image-watcher');

/** Runs Helm with folders and settings of its own; returns what it wrote, and throws with it when it fails. */
export async function helm(
  args: readonly string[],
  { values, kubeconfig }: { values?: Values; kubeconfig?: string } = {},
): Promise<string> {
  const home = tempFolder('helm');
  const valuesFile = join(home, 'values.yaml');
  if (values !== undefined) writeFileSync(valuesFile, stringify(values));
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...(kubeconfig !== undefined && { KUBECONFIG: kubeconfig }) };
  const all = [...args, ...(values === undefined ? [] : ['--values', valuesFile])];
  return runCommand(await findHelm(), all, { env, cwd: home, timeoutMs: 300_000 });
}

/** The objects that the chart makes of the values, hooks included. */
export async function renderChart(values: Values, { namespace = 'image-watcher', release = 'image-watcher' } = {}): Promise<Manifest[]> {
  const text = await helm(['template', release, chartFolder, '--namespace', namespace, '--kube-version', '1.36'], { values });
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(`${String(document.errors[0])}\n${document.toString()}`);
    const object = document.toJS() as Manifest | null;
    return object === null ? [] : [object];
  });
}
