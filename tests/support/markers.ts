/** Which files a batch runs, as JSON. */
export const FILES_VARIABLE = 'BELLWIRE_TEST_FILES';

/** The assertion that ends a test file in the output of a batch. */
export function markerOf(file: string): string {
  return `the end of ${file}`;
}
