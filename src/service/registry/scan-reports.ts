/**
 * Reads what Harbor's scanner has found in an image, by Harbor's own API, which is at the host of its registry:
 * https://github.com/goharbor/harbor/blob/main/api/v2.0/swagger.yaml (getVulnerabilitiesAddition)
 */
import { isObject } from '../../core/model/untyped.ts';
import { z } from 'zod';
import { anyMember, readPieces, splitLists } from '../../core/async/split-lists.ts';
import { parseBoundedJson } from '../../core/model/bounded-json.ts';
import { describeError } from '../../core/model/errors.ts';
import { formatRepository, isDigest } from '../../core/model/image-reference.ts';
import { describeBody, unexpectedAnswer } from './answer-errors.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import { readManifest } from './manifests.ts';
import { type Descriptor, parseManifest } from './parse-manifest.ts';
import { indexType } from './referrers.ts';
import type { Session } from './session.ts';

/** What Harbor says of one image: the report of its scan, or in words why there is none. The texts are those of the scanner and are not trusted. */
export type HarborScan = { readonly report: HarborReport } | { readonly none: string };

/** The report of a scan. */
export interface HarborReport {
  /** When the scan ended, as the scanner wrote it. */
  readonly generatedAt: string;
  readonly scanner: string;
  readonly vulnerabilities: readonly HarborVulnerability[];
}

/** One vulnerability, with the values as the scanner wrote them. */
export interface HarborVulnerability {
  readonly id: unknown;
  readonly severity: unknown;
  readonly package: unknown;
}

/** An image that Harbor may have scanned. */
export interface ScannedImage {
  readonly digest: string;
  /** `linux/amd64`, of an image of an index. */
  readonly platform?: string;
  readonly scan: HarborScan;
}

const accept = [
  'application/vnd.security.vulnerability.report; version=1.1',
  'application/vnd.scanner.adapter.vuln.report.harbor+json; version=1.0',
].join(', ');
const maxBytes = 8 * 1024 * 1024;
/** How many vulnerabilities a report may have. */
const maxVulnerabilities = 20_000;
/** How many images of an index are asked about. */
const maxImages = 8;

const indexTypes: ReadonlySet<string> = new Set([indexType, 'application/vnd.docker.distribution.manifest.list.v2+json']);

const answerSchema = z.record(
  z.string(),
  z.object({ generated_at: z.string().max(64), scanner: z.object({ name: z.string().max(256) }), vulnerabilities: z.int().min(0) }),
);

/**
 * The scans of a digest; of an index, those of its images, since Harbor joins the reports that are there, without those that are missing. Undefined if the
 * registry does not have the digest. Throws an Error that says so if the registry does not answer as Harbor, or the report is too large.
 */
export async function readScanReports(session: Session, digest: string): Promise<readonly ScannedImage[] | undefined> {
  const manifest = isDigest(digest) ? await readManifest(session, digest) : undefined;
  if (manifest === undefined) return undefined;
  // Only what no node can run is left out. An annotation could hide an image from its scan.
  const entries = parseManifest(manifest.bytes)?.manifests?.filter(({ platform }) => platform?.os !== 'unknown');
  if (entries === undefined) return [{ digest, scan: await readScan(session, digest) }];
  const images = [...new Map(entries.map((entry) => [entry.digest, entry])).values()];
  if (images.length > maxImages)
    throw new Error(
      `${formatRepository(session.source)}@${digest} is an index of ${images.length} images, of which at most ${maxImages} are asked about`,
    );
  const nested = images.find(({ mediaType }) => mediaType !== undefined && indexTypes.has(mediaType));
  if (nested !== undefined) throw new Error(`${formatRepository(session.source)}@${digest} is an index of indexes`);
  const scanned: ScannedImage[] = [];
  // One by one, so that only one report is in memory in full.
  for (const entry of images) scanned.push({ digest: entry.digest, ...platformOf(entry), scan: await readScan(session, entry.digest) });
  return scanned;
}

function platformOf({ platform }: Descriptor): Pick<ScannedImage, 'platform'> {
  if (platform === undefined) return {};
  const { os, architecture, variant } = platform;
  return { platform: [os, architecture, ...(variant ? [variant] : [])].join('/') };
}

async function readScan(session: Session, digest: string): Promise<HarborScan> {
  const { registry, source, signal, send, clock } = session;
  const what = `asking Harbor for the scan of ${formatRepository(source)}@${digest}`;
  const [project = '', ...rest] = source.path.split('/');
  if (rest.length === 0) throw new Error(`${what}: Harbor has its repositories in projects, and ${source.path} names none`);
  // Slashes are encoded twice, as Harbor's documentation asks for.
  const repository = encodeURIComponent(encodeURIComponent(rest.join('/')));
  const url = new URL(
    `/api/v2.0/projects/${encodeURIComponent(project)}/repositories/${repository}/artifacts/${digest}/additions/vulnerabilities`,
    registry.origin,
  );
  const headers = { accept: 'application/json', 'x-accept-vulnerabilities': accept };
  const request: HttpRequest = { registry, kind: 'scan', what, method: 'GET', url, headers, maxBytes, maxRedirects: 0, signal };
  const answer = await send(source, request);
  if (answer.status === 404 && isNotFound(answer.body)) return { none: `Harbor has no report of ${digest}${describeBody(answer.body)}` };
  if (answer.status === 404) throw new Error(`${what}: ${registry.name} has no API of Harbor`);
  if (answer.status !== 200) throw unexpectedAnswer(what, answer, clock);
  try {
    return await parseScan(answer, digest);
  } catch (error) {
    throw new Error(`${what}: ${describeError(error)}`, { cause: error });
  }
}

const errors = z.object({ errors: z.array(z.object({ code: z.literal('NOT_FOUND') })).min(1) });

/** Whether an error document is Harbor's for something that it does not have. The codes of the distribution specification are others. */
function isNotFound(body: Buffer): boolean {
  try {
    return errors.safeParse(parseBoundedJson(body)).success;
  } catch {
    return false;
  }
}

/** Parses an answer: an object with the report, by its media type, or an empty one. */
async function parseScan({ body, headers }: HttpAnswer, digest: string): Promise<HarborScan> {
  if (!headers['content-type']?.startsWith('application/json')) throw new Error('the answer is not that of Harbor');
  const { rest, lists } = await splitLists(body, [anyMember, 'vulnerabilities']);
  const reports = Object.values(answerSchema.safeParse(rest).data ?? { unreadable: undefined });
  if (reports.length === 0) return { none: `Harbor has no report of ${digest}: it was not scanned, its scan has not ended, or has failed` };
  const [report, another] = reports;
  const list = report === undefined ? undefined : lists[report.vulnerabilities];
  if (report === undefined || list === undefined || another !== undefined) throw new Error('the report cannot be read');
  const vulnerabilities: HarborVulnerability[] = [];
  for await (const piece of readPieces(list))
    for (const one of piece) {
      if (!isObject(one)) throw new Error('the report cannot be read');
      const { id, severity, package: name } = one as Record<string, unknown>;
      vulnerabilities.push({ id, severity, package: name });
      if (vulnerabilities.length > maxVulnerabilities) throw new Error(`the report has more than ${maxVulnerabilities} vulnerabilities`);
    }
  return { report: { generatedAt: report.generated_at, scanner: report.scanner.name, vulnerabilities } };
}
