/** `push NAME:TAG [--broken]` of the tutorial: what `docker build` and `docker push` do in a pipeline. A broken image ends as soon as it is started. */
import { parseArgs } from 'node:util';
import { pushImage } from '../harness/push-image.ts';
import { crashing } from './kubelet.ts';

const { values, positionals } = parseArgs({ options: { broken: { type: 'boolean' } }, allowPositionals: true });
const [, repository, tag] = /^([\w/-]+):([\w.-]+)$/.exec(positionals[0] ?? '') ?? [];
const host = process.env['REGISTRY'];
if (repository === undefined || tag === undefined || host === undefined) {
  process.stderr.write('Usage: push NAME:TAG [--broken], with the host of the registry in REGISTRY\n');
  process.exit(2);
}
const { digest } = await pushImage({ host, repository, tag, content: values.broken === true ? crashing : `serve ${repository} ${tag}` });
process.stdout.write(`${tag}: digest: ${digest}\n`);
