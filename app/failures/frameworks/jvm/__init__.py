"""The test runners of the JVM: Maven surefire, Gradle, Ant, JUnit's console, ScalaTest and its relatives."""
