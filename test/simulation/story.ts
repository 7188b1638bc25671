/** What happened, line by line, for a reader: when, who, what. And what must not have happened. */
export interface Violation {
  /** The name of the invariant. */
  readonly invariant: string;
  readonly detail: string;
  readonly at: number;
}

export interface Story {
  tell(who: string, what: string): void;
  violation(invariant: string, detail: string): void;
  readonly violations: readonly Violation[];
  lines(): string[];
}

export function createStory(now: () => number): Story {
  const start = now();
  const lines: string[] = [];
  const violations: Violation[] = [];
  const tell = (who: string, what: string) => {
    lines.push(`${((now() - start) / 1_000).toFixed(2).padStart(7)} s  ${who.padEnd(10)} ${what}`);
  };
  return {
    tell,
    violation(invariant, detail) {
      violations.push({ invariant, detail, at: now() });
      tell('!!!', `${invariant}: ${detail}`);
    },
    violations,
    lines: () => lines,
  };
}
