/** Verifies the provenance of Helm charts: https://helm.sh/docs/topics/provenance/ */
import { chartConfigType, chartContentType, manifestType } from '../../core/model/media-types.ts';
import { z } from 'zod';
import { parseBoundedJson } from '../../core/model/bounded-json.ts';
import { describeError } from '../../core/model/errors.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { versionOfTag } from '../../core/model/oci-chart.ts';
import type { VerificationResult } from '../../core/model/verification.ts';
import type { SignatureRegistry } from './find-attached.ts';
import type { PgpKey } from './openpgp/keys.ts';
import { verifyMessage } from './openpgp/verify-message.ts';

/** A key of OpenPGP that may sign charts, with the Secret that it comes from, worded for users. */
export interface ProvenanceKey {
  readonly name: string;
  readonly key: PgpKey;
}

/** A chart whose provenance is demanded. */
export interface Chart {
  readonly source: ImageSource;
  readonly digest: string;
  /** The tag under which the chart is installed; undefined if it is installed by its digest alone. */
  readonly tag?: string | undefined;
}

const provenanceType = 'application/vnd.cncf.helm.chart.provenance.v1.prov';
/** A provenance holds the Chart.yaml, which is a page. */
const maxBytes = 65_536;
/** A line with the checksum of a file, as Helm writes it: `  web-1.2.3.tgz: sha256:…`. */
const checksum = /^ {2,8}([A-Za-z0-9._+-]{1,300}): (sha256:[0-9a-f]{64})$/;
const maxFiles = 16;

/**
 * What Helm writes into the manifest of a chart, and nothing else. Only the content is signed, not the manifest, so that whoever may push could add what others
 * install instead: a layer of Helm's former type, or a field that Go reads as `layers` because it ignores case.
 */
const annotations = z.record(z.string(), z.string()).nullable().exactOptional();
const layerOf = <T extends string>(...types: readonly T[]) =>
  z.strictObject({ mediaType: z.literal(types), digest: z.string(), size: z.int(), annotations });
const manifestSchema = z.strictObject({
  schemaVersion: z.literal(2),
  mediaType: z.literal(manifestType).exactOptional(),
  artifactType: z.literal(chartConfigType).exactOptional(),
  config: layerOf(chartConfigType),
  layers: z.array(layerOf(chartContentType, provenanceType)),
  annotations,
});

/**
 * Verifies that a chart has a provenance by one of the keys, which holds the checksum of its content under the name of its version. It is a part of the chart's
 * manifest, so that it never arrives later: a chart without it is invalid, and not only unsigned.
 */
export async function verifyProvenance(
  chart: Chart,
  keys: readonly ProvenanceKey[],
  { registry, signal, now }: { readonly registry: SignatureRegistry; readonly signal: AbortSignal; readonly now: () => number },
): Promise<VerificationResult> {
  const required = `a provenance by ${keys.map(({ name, key }) => `key ${key.id} of ${name}`).join(' or ')} is required`;
  const invalid = (why: string): VerificationResult => ({ kind: 'invalid', why: `${why}; ${required}` });
  const { source, digest } = chart;
  const manifest = await registry.readManifest(source, digest, signal);
  if (manifest === undefined) throw new Error(`${formatRepository(source)} holds no ${digest}, which it named a moment ago`);
  const layers = layersOf(manifest.bytes);
  if (layers === undefined) return invalid('its manifest is not one of a chart as Helm pushes it, or has other parts besides');
  const [content, ...more] = layers.filter(({ mediaType }) => mediaType === chartContentType);
  if (content === undefined || more.length > 0) return invalid('it is not a chart with one content');
  const [layer, ...others] = layers.filter(({ mediaType }) => mediaType === provenanceType);
  if (layer === undefined) return invalid('the chart has no provenance (helm package --sign makes it)');
  if (others.length > 0) return invalid('the chart has several provenances');
  if (layer.size > maxBytes) return invalid(`its provenance has ${layer.size} bytes, and at most ${maxBytes} are read`);
  const bytes = await registry.readBlob(source, layer.digest, maxBytes, signal);
  if (bytes === undefined) return invalid('the registry does not hold its provenance');
  const message = await verifyMessage(
    bytes,
    keys.map(({ key }) => key),
    now(),
  );
  if ('why' in message) return invalid(`its provenance is not accepted: ${message.why}`);
  const problem = problemOf(message.text, chart, content.digest);
  if (problem !== undefined) return invalid(`its provenance is ${problem}`);
  const by = keys.find(({ key }) => key === message.key);
  return { kind: 'verified', by: `key ${message.key.id} of ${by?.name}` };
}

/** The layers of a manifest; undefined if it is an index, or has other fields or layers than that of a chart. */
function layersOf(bytes: Buffer): z.output<typeof manifestSchema>['layers'] | undefined {
  return manifestSchema.safeParse(parseBoundedJson(bytes)).data?.layers;
}

/** What a signed text is instead of the provenance of this chart. The name of the file has the version: nobody may pass an old chart off as a newer one. */
function problemOf(text: string, { source, tag }: Chart, content: string): string | undefined {
  let files: ReadonlyMap<string, string>;
  try {
    files = readFiles(text);
  } catch (error) {
    return `not one of Helm: ${describeError(error)}`;
  }
  const name = source.path.split('/').at(-1) ?? '';
  const wanted = `${name}-${tag === undefined ? 'VERSION' : versionOfTag(tag)}.tgz`;
  const isWanted = (file: string) => (tag === undefined ? file.startsWith(`${name}-`) && file.endsWith('.tgz') : file === wanted);
  const named = [...files].filter(([file]) => isWanted(file));
  if (named.length === 0) return `for ${[...files.keys()].join(', ')}, and not for ${wanted}`;
  if (named.some(([, digest]) => digest === content)) return undefined;
  return `for another content of ${named.map(([file, digest]) => `${file} (${digest})`).join(', ')}`;
}

/** The checksums in the second document of the text, by the names of the files; throws an Error if they are not as Helm writes them. */
function readFiles(text: string): ReadonlyMap<string, string> {
  const [, ...documents] = text.split('\r\n...\r\n');
  const [head, ...lines] = (documents.length === 1 ? (documents[0] ?? '') : '').split('\r\n').filter((line) => line !== '');
  if (head !== 'files:') throw new Error('it does not list the files in its second part');
  const files = new Map<string, string>();
  for (const line of lines) {
    const [, file, digest] = checksum.exec(line) ?? [];
    if (file === undefined || digest === undefined || files.has(file) || files.size === maxFiles)
      throw new Error('it lists other things than the checksums of a few files');
    files.set(file, digest);
  }
  return files;
}
