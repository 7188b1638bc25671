/** What the process spends on work that is under way, several pieces of which may run at once. */
export interface Spending {
  /** Begins a piece of work; the returned function ends it. */
  begin(): () => void;
  /** What was spent since the last call, in ms of the processor. What other work spends at the same time is counted as well, and simultaneous pieces are counted once. */
  take(): number;
}

/** Creates a count. `processorMs`: what all threads of the process have spent so far; `besidesMs`: what a piece costs before it begins and after it ends. */
export function createSpending(processorMs: () => number, besidesMs: number): Spending {
  let [underWay, countedMs, spentMs] = [0, 0, 0];
  const count = () => {
    const now = processorMs();
    if (underWay > 0) spentMs += now - countedMs;
    countedMs = now;
  };
  return {
    begin() {
      count();
      underWay++;
      return () => {
        count();
        underWay--;
        spentMs += besidesMs;
      };
    },
    take() {
      count();
      const spent = spentMs;
      spentMs = 0;
      return spent;
    },
  };
}
