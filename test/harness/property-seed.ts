// Loaded before each test file of `npm test`: property tests try the same values in every run; FAST_CHECK_SEED=random tries others.
import fc from 'fast-check';

const wanted = process.env['FAST_CHECK_SEED'] ?? '20261121';
if (wanted !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(wanted) });
