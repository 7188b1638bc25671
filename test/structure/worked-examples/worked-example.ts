/** How a member of a family is added, as src/README.md describes it: the steps of one row of "To add a …". */
export interface WorkedExample {
  /** The first cell of the row in src/README.md. */
  readonly row: string;
  /** What the messages of the type checker about a missing step of this example contain, and those about no other example. */
  readonly word: string;
  readonly steps: readonly Step[];
  /** The test files that pass when all steps are done. One of them fails when a step is missing that the type checker does not ask for. */
  readonly suite: readonly string[];
}

/** A change of one file; paths are relative to the checkout. */
export interface Step {
  readonly file: string;
  /** For a new file: its text. */
  readonly text?: string;
  /** For an existing file: each line that is added, by the line that it follows. A line is named by its beginning, without indentation. */
  readonly after?: Readonly<Record<string, string>>;
  /** For an existing file: the text that takes the place of another one. */
  readonly replace?: Readonly<Record<string, string>>;
  /** What fails without this step: the type checker, a test of the suite, or both. */
  readonly without: 'types' | 'suite' | 'both';
}
