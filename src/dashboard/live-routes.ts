/** Serves the part of each page that changes, for the script of open pages. Callers who are shown the same share one reading, and those of them who may do the same share what was written. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BoundedMap } from '../core/async/bounded-map.ts';
import { writeContent } from './layout.ts';
import type { LivePages } from './live-pages.ts';
import type { Offering, Page, PageContent, Redirection } from './page.ts';
import { pages } from './pages/index.ts';
import { readRights } from './rights.ts';
import { type DashboardMeans, queryOf, startVisit, type Visit } from './visit.ts';

/** The header with the mark of the changes that were announced to a page. */
export const announcedHeader = 'x-changed';

const encoders = {
  br: (text: string) => compressBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (text: string) => compressGzip(text),
};
const [compressBrotli, compressGzip] = [promisify(brotliCompress), promisify(gzip)];

/** A part of a page, in the encodings that were asked for. */
interface Content {
  readonly text: string;
  readonly etag: string;
  readonly encoded: Map<keyof typeof encoders, Promise<Buffer>>;
}

/** What was read, and when: a mark of the open pages. */
interface Reading {
  readonly mark: string;
  /** A monotonic time in ms. */
  readonly at: number;
  readonly shown: Promise<PageContent | Offering | Redirection>;
  /** What was written for users who may do the same, by what that is. */
  readonly contents: BoundedMap<string, Promise<Content | Redirection>>;
}

/** The header of a page that reads itself now and then, although nothing was announced to it. */
const regularHeader = 'x-regular';
/** How old a reading may be that such pages share. Each waits longer than this before it reads itself, so that none shows again what it had before. */
const regularMs = 4_000;

/** The most readings that are kept, of up to a hundred kilobytes each. */
const maxReadings = 50;
/** The most users who may do different things for whom the content of a reading is kept. */
const maxContents = 4;

/** Adds a route for each page. */
export function addLiveRoutes(app: FastifyInstance, means: DashboardMeans, live: LivePages): void {
  const readings = new BoundedMap<string, Reading>(maxReadings);
  const share = (key: string, { headers }: FastifyRequest, read: () => Reading['shown']): Reading => {
    const begin = performance.now();
    const known = readings.get(key);
    const isRecent = known !== undefined && headers[regularHeader] !== undefined && begin - known.at < regularMs;
    if (known !== undefined && (isRecent || live.isAfter(known.mark, valueOf(headers[announcedHeader])))) return known;
    const reading = createReading(live.mark(), begin, read());
    readings.set(key, reading);
    reading.shown.catch(() => readings.get(key) === reading && readings.delete(key));
    return reading;
  };
  /** Counts the cost of a reading until it is sent, or the browser has left. */
  const onRequest = (_request: FastifyRequest, reply: FastifyReply, next: () => void) => {
    reply.raw.once('close', live.reading());
    next();
  };
  for (const page of pages)
    app.get<{ Params: Record<string, string> }>(`/live${page.path}`, { compress: false, onRequest }, async (request, reply) => {
      const visit = await startVisit(request, means);
      const read = () => readPage(page, request, visit, means);
      const key = page.isPersonal ? undefined : keyOf(request, visit);
      const content = await write(key === undefined ? createReading('', 0, read()) : share(key, request, read), visit, means);
      return 'redirect' in content ? reply.redirect(content.redirect, 303) : sendContent(request, reply, content);
    });
}

/** What a part of a page depends on; undefined if it depends on what this caller may see. */
function keyOf({ url }: FastifyRequest, { caller, texts }: Visit): string | undefined {
  return caller.seesAll === true ? JSON.stringify([url, texts.language, caller.noActions, caller.features]) : undefined;
}

function createReading(mark: string, at: number, shown: Reading['shown']): Reading {
  return { mark, at, shown, contents: new BoundedMap(maxContents) };
}

function readPage(
  page: Page,
  request: FastifyRequest<{ Params: Record<string, string> }>,
  { api, caller, texts }: Visit,
  { settings }: DashboardMeans,
): Reading['shown'] {
  return page.show({ api, caller, texts, params: request.params, query: queryOf(request.query), settings });
}

/** What was read, as this user is shown it. */
async function write({ shown, contents }: Reading, visit: Visit, { turns }: DashboardMeans): Promise<Content | Redirection> {
  const read = await shown;
  const rights = 'offer' in read ? await readRights(visit.api, visit.caller, read.acted) : undefined;
  const key = rights?.key ?? '';
  const content =
    contents.get(key) ??
    writeFor(
      async () => ('offer' in read && rights !== undefined ? read.offer(rights) : (read as PageContent | Redirection)),
      visit,
      turns,
    );
  contents.set(key, content);
  content.catch(() => contents.get(key) === content && contents.delete(key));
  return content;
}

async function writeFor(
  show: () => Promise<PageContent | Redirection>,
  { viewer }: Visit,
  turns: DashboardMeans['turns'],
): Promise<Content | Redirection> {
  const shown = await show();
  if ('redirect' in shown) return shown;
  await turns.next();
  const text = writeContent({ ...shown, viewer });
  const etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  return { text, etag, encoded: new Map() };
}

async function sendContent({ headers }: FastifyRequest, reply: FastifyReply, { text, etag, encoded }: Content): Promise<FastifyReply> {
  reply.type('text/html; charset=utf-8').headers({ etag, vary: 'accept-encoding' });
  if (headers['if-none-match'] === etag) return reply.code(304).send();
  const accepted = valueOf(headers['accept-encoding'])?.split(/[\s,]+/) ?? [];
  const encoding = (['br', 'gzip'] as const).find((one) => accepted.includes(one));
  if (encoding === undefined) return reply.send(text);
  const body = encoded.get(encoding) ?? encoders[encoding](text);
  encoded.set(encoding, body);
  return reply.header('content-encoding', encoding).send(await body);
}

function valueOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}
