/** What is being read: it holds memory until it ends or is given up. */
export interface Reading {
  /** It holds this much more, or less. */
  grow(bytes: number): void;
  /** It holds nothing any more; ending twice is fine. */
  end(): void;
}

interface Open {
  length: number;
  readonly giveUp: () => void;
}

/** What strangers send while it is being read. Where all of it together takes too much memory, the largest is given up: what is genuine is small. */
export class ByteBudget {
  readonly #open = new Set<Open>();
  readonly #maxBytes: number;
  #bytes = 0;

  /** One reading alone is never given up: each has a limit of its own. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** `giveUp` is called once at most, when the reading counts no more. */
  open(giveUp: () => void): Reading {
    const reading: Open = { length: 0, giveUp };
    this.#open.add(reading);
    return {
      grow: (bytes) => this.#grow(reading, bytes),
      end: () => this.#end(reading),
    };
  }

  #grow(reading: Open, bytes: number): void {
    if (!this.#open.has(reading)) return;
    reading.length += bytes;
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes && this.#open.size > 1) {
      let largest: Open | undefined;
      for (const other of this.#open) if (largest === undefined || other.length > largest.length) largest = other;
      if (largest === undefined) return;
      this.#end(largest);
      largest.giveUp();
    }
  }

  #end(reading: Open): void {
    if (this.#open.delete(reading)) this.#bytes -= reading.length;
  }
}
