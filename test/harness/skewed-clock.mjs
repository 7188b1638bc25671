// Loaded into a process (`--import`) whose clock is to be wrong by CLOCK_SKEW_MS.
const skewMs = Number(process.env.CLOCK_SKEW_MS);
const TrueDate = Date;

globalThis.Date = class extends TrueDate {
  constructor(...args) {
    if (args.length === 0) super(TrueDate.now() + skewMs);
    else super(...args);
  }

  static now() {
    return TrueDate.now() + skewMs;
  }
};
