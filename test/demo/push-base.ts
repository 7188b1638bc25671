/** `push NAME:TAG [--from BASE]` of the tutorial about base images: pushes a version of Java, or an application whose Dockerfile begins with `FROM BASE`. */
import { parseArgs } from 'node:util';
import { type Foundation, java, pushApplication, pushJava } from './base-images.ts';

const foundations: Readonly<Record<string, Foundation>> = { [`${java}:21.0.1`]: 'java', [`${java}:21.0.1-alpine`]: 'alpine' };

const { values, positionals } = parseArgs({ options: { from: { type: 'string' } }, allowPositionals: true });
const [, repository, name, tag] = /^(\w+\/([\w-]+)):([\w.-]+)$/.exec(positionals[0] ?? '') ?? [];
const host = process.env['REGISTRY'];
const foundation = foundations[values.from ?? ''];
if (name === undefined || tag === undefined || host === undefined || (repository !== java && foundation === undefined)) {
  process.stderr.write(`Usage: push ${java}:VERSION, or push shop/NAME:TAG --from BASE, with the host of the registry in REGISTRY
BASE is one of ${Object.keys(foundations).join(', ')}\n`);
  process.exit(2);
}
const { digest } = foundation === undefined ? await pushJava(host, tag) : await pushApplication(host, name, foundation, tag);
process.stdout.write(`${tag}: digest: ${digest}\n`);
