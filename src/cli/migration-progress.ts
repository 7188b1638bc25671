import type { RewriteCounts } from '../kube/crd/rewrite-objects.ts';

/** Tells how far a migration has come, now and then. */
export interface ProgressReport {
  update(counts: RewriteCounts, pass: number): void;
  /** Ends the line that is drawn over and over on a terminal. */
  end(): void;
}

/** Where and how to tell. */
export interface ReportOptions {
  readonly write: (text: string) => void;
  readonly style: 'line' | 'lines' | 'json';
  /** Milliseconds of a clock that does not jump. */
  readonly now: () => number;
}

/** On a terminal one line that is drawn anew, four times a second; elsewhere a line every five seconds, as text or JSON. */
export function reportProgress({ write, style, now }: ReportOptions): ProgressReport {
  const everyMs = style === 'line' ? 250 : 5_000;
  let current = { pass: 0, since: 0 };
  let told = -Infinity;
  let isDrawn = false;
  return {
    update(counts, pass) {
      if (pass !== current.pass) current = { pass, since: now() };
      const isComplete = doneOf(counts) === counts.total;
      if (now() - told < everyMs && !isComplete) return;
      told = now();
      const { total, rewritten, refused } = counts;
      const done = doneOf(counts);
      const perSecond = Math.round((done * 1000) / Math.max(1, now() - current.since));
      if (style === 'json') {
        write(`${JSON.stringify({ pass, done, total, rewritten, refused: refused.length, remaining: total - done, perSecond })}\n`);
        return;
      }
      const text = `${pass === 1 ? 'migrating' : 'checking'}: ${done} of ${total}, ${total - done} remain, ${perSecond}/s, ${rewritten} rewritten${refused.length > 0 ? `, ${refused.length} refused` : ''}`;
      isDrawn = style === 'line';
      write(isDrawn ? `\r\u001B[K${text}` : `${text}\n`);
    },
    end() {
      if (isDrawn) write('\n');
      isDrawn = false;
    },
  };
}

function doneOf({ rewritten, unchanged, gone, refused }: RewriteCounts): number {
  return rewritten + unchanged + gone + refused.length;
}
