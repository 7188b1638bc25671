/** Runs as `prepack`: the program in JavaScript, in `dist`, for the package of npm. Below node_modules, Node runs no TypeScript. */
import { build, type Metafile } from 'esbuild';
import { globSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { leanClientNode } from './lean-client-node.ts';
import { requiredHttp } from './required-http.ts';

const root = join(import.meta.dirname, '../..');
/**
 * What few processes load stays as it is. All others are joined with the program: to find, read and compile a thousand small files is an eighth of what the service
 * needs to start.
 */
const apart: readonly string[] = [
  '@aws-sdk/client-ecr',
  '@aws-sdk/credential-provider-node',
  // The compilers of Fastify, which nothing calls (src/core/async/without-schemas.ts).
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@opentelemetry/core',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
  '@peculiar/x509',
  '@smithy/signature-v4',
  // Sent to browsers as the file that it is.
  'idiomorph',
  'liquidjs',
  'nodemailer',
  'reflect-metadata',
];

/** Writes the program, what its dashboard loads, and the licences of the packages that are joined with it, into a folder. */
export async function buildPackage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(root, 'src/main.ts')],
    outdir: folder,
    bundle: true,
    // What a command does not use is not loaded, as in the sources.
    splitting: true,
    // Node reads and compiles less; names stay, for stack traces.
    minifySyntax: true,
    minifyWhitespace: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    external: [...apart],
    plugins: [leanClientNode, requiredHttp],
    // CommonJS modules that are joined call it.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
    metafile: true,
  });
  await cp(join(root, 'src/dashboard/assets'), join(folder, 'assets'), { recursive: true });
  await writeFile(join(folder, 'LICENSES.txt'), await licencesOf(metafile));
}

/** The licences of the packages in a bundle, each under the name and version of its package. */
async function licencesOf({ outputs }: Metafile): Promise<string> {
  const paths = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const folders = new Set(paths.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const texts = await Promise.all([...folders].toSorted().map((folder) => licenceOf(join(root, folder))));
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

async function licenceOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
  const files = globSync('{LICEN[CS]E,licen[cs]e,License}*', { cwd: folder });
  const texts = await Promise.all(files.toSorted().map((file) => readFile(join(folder, file), 'utf8')));
  return `${name} ${version} (${license})\n\n${texts.join('\n')}`;
}

if (import.meta.main) await buildPackage(join(root, 'dist'));
