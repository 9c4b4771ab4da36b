/** @file Executes step programs. Rooms are added beside this file; what they show the outside is exported here. */
export {};
