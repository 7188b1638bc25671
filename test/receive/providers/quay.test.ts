import { quay } from '../../../src/receive/providers/quay.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: quay, credentials: [] });
