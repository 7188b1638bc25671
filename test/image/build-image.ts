import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withProgress } from '../harness/progress.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { dockerfile, findBases, type BaseImages } from './base-images.ts';
import type { Engine } from './engine.ts';
import { npmSettings } from './npm-settings.ts';

/** An image that was built, and how to build it again. */
export interface BuiltImage {
  readonly name: string;
  readonly bases: BaseImages;
  /** Builds all of it once more; the name of the other image. */
  rebuild(): Promise<string>;
}

/** Builds the Dockerfile of this checkout, with the package registry that this machine uses. */
export async function buildImage(engine: Engine): Promise<BuiltImage> {
  const bases = await findBases(engine);
  const npmrc = join(tempFolder('npm'), 'npmrc');
  writeFileSync(npmrc, await npmSettings(), { mode: 0o600 });
  const build = async (name: string, ...more: string[]) => {
    const args = Object.entries(bases).flatMap(([argument, image]) => ['--build-arg', `${argument}=${image}`]);
    const command = [
      'build',
      '--network',
      'host',
      '--secret',
      `id=npmrc,src=${npmrc}`,
      '--tag',
      name,
      ...args,
      ...more,
      dirname(dockerfile),
    ];
    await withProgress(`building ${name}`, () => engine.docker(command));
    return name;
  };
  const name = await build('image-watcher:test');
  return { name, bases, rebuild: () => build('image-watcher:test-again', '--no-cache') };
}
