import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files of one project follow one another, so that a worker goes on with the modules it has loaded. */
export class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    return projects.flatMap((project) => sorted.filter((file) => file.project === project))
  }
}
