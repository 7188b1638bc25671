import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCrane } from './binaries.ts';
import { helm } from './helm.ts';
import { runCommand } from './run-command.ts';
import { tempFolder } from './temp-folder.ts';

/** A chart with a version, and where it is pushed: `HOST/REPOSITORY`, whose last part is the name of the chart. */
export interface ChartPush {
  readonly host: string;
  readonly repository: string;
  readonly version: string;
  /** A key ring with one private key, with which Helm makes the provenance of the chart. */
  readonly keyring?: Buffer;
}

/** Packages a small chart and pushes it with Helm itself, which pushes its provenance with it. */
export async function helmPush({ host, repository, version, keyring }: ChartPush): Promise<void> {
  const folder = tempFolder('chart');
  const parts = repository.split('/');
  const name = parts.at(-1) ?? '';
  mkdirSync(join(folder, name, 'templates'), { recursive: true });
  writeFileSync(join(folder, name, 'Chart.yaml'), `apiVersion: v2\nname: ${name}\nversion: ${version}\n`);
  const configMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n';
  writeFileSync(join(folder, name, 'templates', 'web.yaml'), configMap);
  const keyringFile = join(folder, 'keyring.gpg');
  if (keyring !== undefined) writeFileSync(keyringFile, keyring);
  const signing = keyring === undefined ? [] : ['--sign', '--key', 'Releaser', '--keyring', keyringFile];
  await helm(['package', join(folder, name), '--destination', folder, ...signing]);
  const registry = `oci://${[host, ...parts.slice(0, -1)].join('/')}`;
  await helm(['push', join(folder, `${name}-${version}.tgz`), registry, '--plain-http']);
}

/** Gives what a tag points to another tag, with crane. */
export async function craneTag({ host, repository, tag, as }: Record<'host' | 'repository' | 'tag' | 'as', string>): Promise<void> {
  await runCommand(await findCrane(), ['tag', '--insecure', `${host}/${repository}:${tag}`, as], { timeoutMs: 60_000 });
}
