/** A body that is being read. It occupies memory until it ends or is aborted. */
export interface Reading {
  /** Adds to the memory of the body; a negative number releases some. */
  grow(bytes: number): void;
  /** Releases all memory of the body. It may be called twice. */
  end(): void;
}

interface Open {
  length: number;
  readonly giveUp: () => void;
}

/** Limits the memory of request bodies that are being read. When all of them together exceed it, the largest is aborted, because genuine ones are small. */
export class ByteBudget {
  readonly #open = new Set<Open>();
  readonly #maxBytes: number;
  #bytes = 0;

  /** The only body being read is never aborted, because each body has its own limit. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** `giveUp` is called at most once, after the body has been removed from the budget. */
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
