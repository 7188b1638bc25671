/** Has open pages read themselves again when something changes: so seldom that it costs a few per cent of a core, however many pages are open. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createSpending } from './spending.ts';

/** The pages that are open in browsers. */
export interface LivePages {
  /** The stream of one page, from the stream of the API, whose events say that something has changed. It ends when that one ends. */
  follow(changes: AsyncIterable<string>): Readable;
  /** Whether something that was read at the time of the one mark also shows the changes that were announced with the other mark. */
  isAfter(read: string, announced: string | undefined): boolean;
  /** The mark of what is read from now on. */
  mark(): string;
  /** Counts what the process spends, in all its threads, until the returned function is called: a page is being read. */
  reading(): () => void;
}

export interface Pacing {
  /** The share of a core that pages which follow changes may cost in this process. */
  readonly share: number;
  /** The pause between two pages to which changes are announced. */
  readonly atLeastMs: number;
  readonly atMostMs: number;
  /** The pause before the next changes are announced to the first page. */
  readonly roundMs: number;
  readonly elapsed: () => number;
  /** The time of the processor in ms that all threads of the process have spent. */
  readonly processorMs: () => number;
}

/** What a reading costs besides: the stream that announces it, the connection, what is collected as garbage later. */
const otherMs = 1;
/** For a dashboard in the process of its API. */
export const usualPacing: Pacing = {
  share: 0.03,
  atLeastMs: 25,
  atMostMs: 500,
  roundMs: 1_000,
  elapsed: () => performance.now(),
  processorMs,
};

/** Creates the pages of one process. */
export function createLivePages({ share, atLeastMs, atMostMs, roundMs, elapsed, processorMs }: Pacing): LivePages {
  // Another process cannot say what is after a mark of this one.
  const own = randomBytes(6).toString('hex');
  const due = new Set<OpenPage>();
  let round = 0;
  const spending = createSpending(processorMs, otherMs);
  let isAnnouncing = false;
  const mark = () => `${own}-${round}`;

  async function announceAll(): Promise<void> {
    if (isAnnouncing) return;
    isAnnouncing = true;
    while (due.size > 0) {
      const begin = elapsed();
      // The same changes are announced to all pages of a round, so that one reading serves all that show the same.
      round++;
      const pages = [...due];
      due.clear();
      for (const page of pages) {
        if (page.isClosed) continue;
        page.announce(mark());
        // What is read during the pause counts for the next one.
        const pauseMs = Math.min(atMostMs, Math.max(atLeastMs, spending.take() / share));
        await delay(pauseMs, undefined, { ref: false });
      }
      await delay(Math.max(0, begin + roundMs - elapsed()), undefined, { ref: false });
    }
    isAnnouncing = false;
  }

  return {
    mark,
    isAfter: (read, announced) => announced !== undefined && numberOf(read, own) >= numberOf(announced, own),
    reading: spending.begin,
    follow(changes) {
      const stream = new Readable({ read: () => undefined });
      const page: OpenPage = { announce: (changes) => stream.push(`event: changed\ndata: ${changes}\n\n`), isClosed: false };
      const pass = async () => {
        stream.push('retry: 2000\n\n');
        const hasEvent = eventFinder();
        try {
          for await (const chunk of changes) {
            if (hasEvent(chunk)) {
              due.add(page);
              void announceAll();
            } else stream.push(': nothing new\n\n');
          }
        } catch {
          // The browser connects again.
        }
        page.isClosed = true;
        stream.push(null);
      };
      stream.on('close', () => (page.isClosed = true));
      void pass();
      return stream;
    },
  };
}

interface OpenPage {
  readonly announce: (mark: string) => void;
  isClosed: boolean;
}

const eventField = 'event:';

/** Returns a function that says of each part of a stream whether an event begins in it. A line may be spread over several parts. */
function eventFinder(): (part: string) => boolean {
  let begun = '';
  return (part) => {
    const lines = `${begun}${part}`.split('\n');
    const wasEvent = begun.startsWith(eventField);
    begun = lines.at(-1)?.slice(0, eventField.length) ?? '';
    return lines.some((line, index) => line.startsWith(eventField) && !(index === 0 && wasEvent));
  };
}

/** The round of a mark; NaN for one of another process. */
function numberOf(mark: string, own: string): number {
  const [process, round = ''] = mark.split('-');
  return process === own && /^\d{1,15}$/.test(round) ? Number(round) : NaN;
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
