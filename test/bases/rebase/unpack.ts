/** Unpacks images with other tools than ours: skopeo copies, tar unpacks, and whiteouts are applied layer by layer. */
import { existsSync, globSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findSkopeo } from '../../harness/binaries.ts';
import { runCommand } from '../../harness/run-command.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

interface Manifest {
  readonly mediaType?: string;
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string }[];
}

/** The files of an image for a platform, by path. */
export async function unpack(image: string, platform: string): Promise<Record<string, string>> {
  const skopeo = await findSkopeo();
  const folder = tempFolder('unpack');
  const copy = join(folder, 'copy');
  const [os = '', architecture = ''] = platform.split('/');
  const home = { ...process.env, HOME: folder };
  await runCommand(
    skopeo,
    [
      '--insecure-policy',
      '--override-os',
      os,
      '--override-arch',
      architecture,
      'copy',
      '--src-tls-verify=false',
      `docker://${image}`,
      `dir:${copy}`,
    ],
    { env: home },
  );
  const { layers } = JSON.parse(readFileSync(join(copy, 'manifest.json'), 'utf8')) as Manifest;
  const root = tempFolder('rootfs');
  for (const { digest } of layers) {
    const archive = join(copy, digest.replace('sha256:', ''));
    const names = (await runCommand('/usr/bin/env', ['tar', '-tzf', archive])).split('\n').filter(Boolean);
    for (const name of names.filter((one) => basename(one).startsWith('.wh.'))) {
      rmSync(join(root, dirname(name), basename(name).slice('.wh.'.length)), { recursive: true, force: true });
    }
    await runCommand('/usr/bin/env', ['tar', '-xzf', archive, '-C', root, '--exclude=.wh.*']);
  }
  if (!existsSync(root)) return {};
  const files = globSync('**/*', { cwd: root }).filter((file) => statSync(join(root, file)).isFile());
  return Object.fromEntries(files.toSorted().map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

/** What skopeo says about an image for a platform. */
export async function inspect(image: string, platform: string, ...args: string[]): Promise<Record<string, unknown>> {
  const [os = '', architecture = ''] = platform.split('/');
  const all = ['--override-os', os, '--override-arch', architecture, 'inspect', ...args, '--tls-verify=false', `docker://${image}`];
  const env = { ...process.env, HOME: tempFolder('inspect') };
  return JSON.parse(await runCommand(await findSkopeo(), all, { env })) as Record<string, unknown>;
}
