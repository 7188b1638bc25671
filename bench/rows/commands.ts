import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiVersion, kind, plural } from '../../src/service/resources/group.ts';
import { buildPackage } from '../../test/release/build-package.ts';
import { alternate } from '../world/alternate.ts';
import { type Spent, spend } from '../world/spent.ts';
import { median } from '../world/statistics.ts';
import { limited, type Figure, type Row } from './row.ts';

const root = join(import.meta.dirname, '../..');
const policies = 10;

/** What users of the command line wait for. */
export const commands: Row = {
  id: 'commands',
  title: `Commands of the package of npm, from the start of the process to its end: processor time of all its threads, and its largest memory (RSS). get and the completion of names ask the API server for ${policies} policies. The floor is Node with an empty script.`,
  async run(world, quick) {
    const namespace = await world.cluster.namespace('commands');
    for (let index = 0; index < policies; index++) {
      const name = `app-${index}`;
      const spec = { image: `registry.example.com/${name}`, select: { semver: {} }, targets: [{ kind: 'Deployment', name }] };
      const policy = { apiVersion, kind, metadata: { name }, spec };
      await world.cluster.request('POST', `/apis/${apiVersion}/namespaces/${namespace}/${plural}`, policy);
    }
    const cluster = ['--kubeconfig', world.cluster.kubeconfigPath, '--namespace', namespace];
    const measured = {
      version: ['version'],
      completion: ['completion', 'bash'],
      'completion of names': ['__complete', 'get', ...cluster, ''],
      get: ['get', ...cluster],
    };
    const limits: Readonly<Record<keyof typeof measured, number>> = {
      version: 0.25,
      completion: 0.25,
      'completion of names': 0.6,
      get: 0.6,
    };
    const folder = await mkdtemp(join(tmpdir(), 'image-watcher-commands-'));
    try {
      const empty = join(folder, 'empty.mjs');
      const [program] = await Promise.all([install(join(folder, 'package')), writeFile(empty, '')]);
      const run = async (args: readonly string[]): Promise<Spent> => {
        const { stdout, spent } = await spend(folder, [program, ...args]);
        if (args[0] === 'get' && !stdout.includes(`app-${policies - 1}`)) throw new Error(`get printed: ${stdout}`);
        return spent;
      };
      const figures: Figure[] = [];
      const raw: Record<string, unknown> = {};
      for (const [name, args] of Object.entries(measured)) {
        const limit = limits[name as keyof typeof measured];
        // The first start fills the cache of what is compiled.
        const rounds = await alternate(
          { rounds: quick ? 1 : 9, warmUp: quick ? 0 : 1 },
          async () => (await spend(folder, [empty])).spent,
          () => run(args),
        );
        figures.push(...figuresOf(name, rounds, limit));
        raw[name] = rounds;
      }
      return { figures, raw };
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

/** Builds the package, with the packages that it depends on; returns its program. */
async function install(folder: string): Promise<string> {
  await buildPackage(join(folder, 'dist'));
  await Promise.all([
    cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true }),
    cp(join(root, 'package.json'), join(folder, 'package.json')),
    symlink(join(root, 'node_modules'), join(folder, 'node_modules')),
  ]);
  return join(folder, 'bin/image-watcher.mjs');
}

function figuresOf(name: string, rounds: readonly { readonly floor: Spent; readonly product: Spent }[], limit: number): Figure[] {
  const [seconds, megabytes] = (['seconds', 'megabytes'] as const).map((what) => ({
    floor: median(rounds.map(({ floor }) => floor[what])),
    product: median(rounds.map(({ product }) => product[what])),
  })) as [Pair, Pair];
  return [
    { ...limited({ name: `${name}: processor time`, product: seconds.product, unit: 's' }, { atMost: limit }), ...compared(seconds) },
    { name: `${name}: memory`, product: megabytes.product, unit: 'MB', ...compared(megabytes) },
  ];
}

interface Pair {
  readonly floor: number;
  readonly product: number;
}

function compared({ floor, product }: Pair): Pick<Figure, 'floor' | 'ratio'> {
  return { floor, ratio: product / floor };
}
